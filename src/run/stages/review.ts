import { readFile } from "node:fs/promises";
import { NO_POLICY } from "../../core/findings.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { applyPolicy, weightiestFirst } from "../../policy/apply-policy.ts";
import type { Finding } from "../../policy/finding.ts";
import { findingsOf } from "../../policy/findings.ts";
import type { RunPaths } from "../paths.ts";
import { type ReviewInput, gatherFacts } from "../review/review-facts.ts";
import type { ReviewServices } from "../review/secrets-in-use.ts";
import type { Stage } from "../stage.ts";

export interface Reviewed {
  readonly reviewed: { readonly progress: "made" | "none"; readonly findings: readonly Finding[] };
}

type Judged = Result<Reviewed["reviewed"], Failure>;

/** @param early what `judge` answered, where it was asked before the stage; nothing is asked again then. */
export function reviewStageAfter(early: Promise<Judged> | undefined): Stage<ReviewInput, Reviewed> {
  return { ...STAGE, perform: async (services, input) => perform(services, input, early) };
}

async function perform(
  services: ReviewServices & { readonly paths: RunPaths },
  input: ReviewInput,
  early: Promise<Judged> | undefined,
): Promise<Result<Reviewed, Failure>> {
  const reviewed = await written(services.paths, await (early ?? judge(services, input)));
  return reviewed.ok ? ok({ reviewed: reviewed.value }) : reviewed;
}

const STAGE: Omit<Stage<ReviewInput, Reviewed>, "perform"> = {
  name: "review",
  async observe(services) {
    return ok((await readFindings(services.paths)) === undefined ? "absent" : "present");
  },
  undo: async () => ok(undefined),
};

/** Computes what a person must see before deciding; the decision itself is another command. */
export const reviewStage = reviewStageAfter(undefined);

/** Computes the findings and writes them into the run's record. May be called again. */
export async function computeReview(
  services: ReviewServices,
  paths: RunPaths,
  input: ReviewInput,
): Promise<Judged> {
  return written(paths, await judge(services, input));
}

async function written(paths: RunPaths, judged: Judged): Promise<Judged> {
  if (!judged.ok) return judged;
  const report = { version: 1, ...judged.value };
  await writeAtomic(paths.review, `${JSON.stringify(report, null, 2)}\n`);
  return judged;
}

/** Computes the findings and writes nothing. */
export async function judge(services: ReviewServices, input: ReviewInput): Promise<Judged> {
  const facts = await gatherFacts(services, input);
  if (!facts.ok) return facts;
  const progress = facts.value.task.atTip === "runnable" ? "none" : "made";
  const policy = input.spec.policy ?? NO_POLICY;
  const findings = weightiestFirst(applyPolicy(findingsOf(facts.value), policy));
  return ok({ progress, findings });
}

/** Reviews that were written before there was a policy do not have its key. */
type StoredFinding = Omit<Finding, "policy"> & Partial<Pick<Finding, "policy">>;

/** The findings in a run's record; undefined when there are none written yet. */
export async function readFindings(paths: RunPaths): Promise<readonly Finding[] | undefined> {
  const text = await readFile(paths.review, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  // Our own file in a directory that only we can write.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { findings } = JSON.parse(text) as { findings: readonly StoredFinding[] };
  return findings.map((one) => ({ ...one, policy: one.policy ?? null }));
}
