import { type Failure, fail } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import type { RunSummary } from "../../core/run-record.ts";

/** Says that a run's commits are not in the repository any more, and since when that could be. */
export function commitsGone(run: RunSummary): Result<never, Failure> {
  const { id, branch, head, branchPruned } = run;
  const what = `the commits of run ${id} (${head?.slice(0, 12) ?? "none"})`;
  const message =
    branchPruned === null
      ? `The branch ${branch ?? ""} and ${what} are gone from this repository.`
      : `The branch ${branch ?? ""} was pruned on ${branchPruned.at.slice(0, 10)}, and ${what} are gone since.`;
  return fail("not-in-this-state", message, {
    cure: `The record is still there: \`guardloop show ${id}\`. Run the task again to have the work anew.`,
  });
}
