import type { EgressEntry } from "../../core/egress.ts";
import { isLimitStatus, isRefusedCredential } from "../../core/egress-totals.ts";
import type { Failure, FailureCode } from "../../core/failures.ts";
import { failure } from "../../core/failures.ts";
import { visible } from "../../core/visible.ts";
import type { RunServices } from "../services.ts";
import { readEgress } from "./read-egress.ts";

/** What an agent leaves out that could not work. */
const NOTHING_DONE: ReadonlySet<FailureCode> = new Set([
  "missing-task-id",
  "missing-commit-message",
  "missing-patches",
]);

/**
 * Names the model API as the cause where an agent left too little and the last that it heard from the API was that its
 * credential, or another request, is not accepted now. What the agent left is named behind it.
 */
export async function withModelTrouble(
  { paths }: Pick<RunServices, "paths">,
  missing: Failure,
): Promise<Failure> {
  if (!NOTHING_DONE.has(missing.code)) return missing;
  const entries = await readEgress(paths.egress);
  const last = entries.findLast((one) => one.kind === "model" && one.outcome !== "cut");
  const cause = last && causeOf(last);
  if (cause === undefined) return missing;
  return failure(cause.code, `${cause.message} ${missing.message}`);
}

function causeOf({ outcome, status, host, reason }: EgressEntry) {
  const name = visible(host, "one-line");
  if (outcome === "failed")
    return {
      code: "model-unreachable",
      message: `The model API ${name} could not be reached: ${visible(reason ?? "no answer", "one-line")}`,
    } as const;
  if (outcome !== "answered") return undefined;
  if (status !== null && isRefusedCredential(status))
    return {
      code: "model-unauthenticated",
      message: `The model API ${name} refused the credential (status ${status}).`,
    } as const;
  if (status !== null && isLimitStatus(status))
    return {
      code: "model-rate-limited",
      message: `The model API ${name} took no more requests (status ${status}).`,
    } as const;
  return undefined;
}
