import type { RunRecord } from "../../core/run-record.ts";
import type { History } from "../../history/port.ts";
import { mayBeAlive } from "../../process/owner.ts";

export interface ClaimsOf {
  readonly repositoryId: string;
  /** This host, on which an owner can be proven dead. */
  readonly host: string;
  /** Attempts at one task do not keep each other from it. */
  readonly ownGroup?: string | undefined;
}

/**
 * The tasks that running runs have for themselves: the one that was selected, else all that were offered. A run whose
 * owner is provably dead claims nothing. To act upon it, call it within `History.exclusively`.
 *
 * @returns the run for each task id.
 */
export function livingClaims(history: History, of: ClaimsOf): ReadonlyMap<string, RunRecord> {
  const claims = new Map<string, RunRecord>();
  for (const run of history.runsInState(["running"], of.repositoryId)) {
    if (run.attempt !== null && run.attempt.group === of.ownGroup) continue;
    if (!mayBeAlive(run.owner, of.host)) continue;
    for (const task of run.task === null ? run.claims : [run.task]) claims.set(task, run);
  }
  return claims;
}
