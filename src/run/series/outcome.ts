import { type Failure, fail } from "../../core/failures.ts";
import { type Result, err } from "../../core/result.ts";
import type { Stop } from "../drive.ts";
import type { FinishedRun } from "../flow.ts";
import type { SeriesHooks } from "./series.ts";

/** What counts as the run's success for the series: it ended ready, its validation passed, and it could land. */
export async function outcomeOf(
  result: Result<FinishedRun, Stop>,
  hooks: SeriesHooks,
): Promise<Result<void, Failure>> {
  if (!result.ok) return err(result.error.failure);
  const { validation, runId, spec } = result.value;
  if (validation === null && spec.validate.length > 0)
    return fail("validation-failed", `The result of run ${runId} could not be validated.`, {
      cure: `Run \`guardloop validate ${runId}\`.`,
    });
  if (validation?.verdict !== "failed") return hooks.onReady(result.value);
  const bad = validation.results.filter(
    (one) => one.outcome !== "passed" && one.outcome !== "not-run",
  );
  return fail(
    "validation-failed",
    `The result of run ${runId} did not pass: ${bad.map((one) => `${one.name} ${one.outcome}`).join(", ")}.`,
  );
}

/** Why a series that stops at the first failure ends after this run; undefined when it goes on. */
export function whyStop(
  result: Result<FinishedRun, Stop>,
  outcome: Result<void, Failure>,
): string | undefined {
  if (!result.ok) return "A run failed; pass --keep-going to go on after a failure.";
  if (!outcome.ok)
    return `${outcome.error.code === "validation-failed" ? "A result failed its validation" : "A run could not be promoted"}; pass --keep-going to go on.`;
  if (result.value.reviewed?.progress === "none")
    return "The run made no progress: its task is still runnable in the plan. Pass --keep-going to go on.";
  return undefined;
}
