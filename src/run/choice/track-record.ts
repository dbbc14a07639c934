import { isTasksFault } from "../../core/failures.ts";
import type { RunRecord, RunSummary } from "../../core/run-record.ts";

/**
 * The task that a run counts for: the one that was selected. A run that failed before it said which counts for the
 * first it was offered, since the prompt asks for that one unless there is a reason.
 */
export function taskOf(run: Pick<RunRecord, "task" | "claims">): string | undefined {
  return run.task ?? run.claims[0];
}

/**
 * The tasks that failed `limit` times in a row, each with the reason why it is not offered. Failures that are not the
 * task's doing, interrupted and running runs are passed over; a run that came to a branch ends the row.
 *
 * @param runs of one repository, newest first.
 * @param limit 0 for never.
 */
export function givenUp(runs: readonly RunSummary[], limit: number): ReadonlyMap<string, string> {
  const rows = new Map<string, { failures: number; readonly last: string; ended: boolean }>();
  for (const run of runs) {
    const task = taskOf(run);
    if (task === undefined || run.state === "running" || run.state === "interrupted") continue;
    const row = rows.get(task) ?? { failures: 0, last: run.id, ended: false };
    if (run.state !== "failed") row.ended = true;
    else if (row.ended || !isTasksFault(run.failure?.code ?? "")) continue;
    else row.failures += 1;
    rows.set(task, row);
  }
  return new Map(
    [...rows]
      .filter(([, row]) => limit > 0 && row.failures >= limit)
      .map(([task, { failures, last }]) => [task, reason(task, failures, last)]),
  );
}

function reason(task: string, failures: number, last: string): string {
  const times = failures === 1 ? "failed" : `failed ${failures} times in a row`;
  return `${times}, last in run ${last}; name it with --task ${task} to try again`;
}
