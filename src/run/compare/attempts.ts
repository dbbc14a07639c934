import type { RunSummary } from "../../core/run-record.ts";
import { taskOf } from "../choice/track-record.ts";

/** The attempts that belong together, the first one first; empty for a group that nobody knows. */
export function attemptsOf(runs: readonly RunSummary[], group: string): readonly RunSummary[] {
  return runs
    .filter((run) => run.attempt?.group === group)
    .toSorted((a, b) => (a.attempt?.number ?? 0) - (b.attempt?.number ?? 0));
}

/**
 * The attempts of the newest group, of one task where it is given.
 *
 * @param runs newest first.
 */
export function newestAttempts(runs: readonly RunSummary[], task?: string): readonly RunSummary[] {
  const newest = runs.find(
    (run) => run.attempt !== null && (task === undefined || taskOf(run) === task),
  );
  return newest?.attempt === null || newest === undefined
    ? []
    : attemptsOf(runs, newest.attempt.group);
}

/** The other attempts of a run's group that still wait for a decision. */
export function waitingAttempts(
  runs: readonly RunSummary[],
  { id, attempt }: Pick<RunSummary, "id" | "attempt">,
): readonly RunSummary[] {
  if (attempt === null) return [];
  return attemptsOf(runs, attempt.group).filter((run) => run.id !== id && run.state === "ready");
}
