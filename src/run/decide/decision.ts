import type { HostEnvironment } from "../../core/environment.ts";
import type { RunEvent } from "../../core/events.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { type RunState, mayBecome } from "../../core/run-state.ts";
import type { Principal } from "../../git/principal.ts";
import type { History } from "../../history/port.ts";

/** What a decision about a run works with. */
export interface DecisionServices {
  readonly env: HostEnvironment;
  /** Absolute path of git. */
  readonly gitProgram: string;
  readonly principal: Principal;
  readonly history: History;
  readonly now: () => Date;
}

export interface Decision {
  readonly run: RunRecord;
  /** Who decided; recorded. */
  readonly by: string;
  /** Why, in the person's words; may be empty. */
  readonly why: string;
}

/** A run whose branch is published has all of these. */
export interface PublishedRun extends RunRecord {
  readonly branch: string;
  readonly head: string;
  readonly task: string;
}

/**
 * Refuses a run that is not of this repository, or not in a state from which it can get to `next`. To be called under
 * the repository's lock: the run is read again, since another process may have decided since it was looked up.
 */
export function checkState(
  services: DecisionServices,
  lookedUp: RunRecord,
  next: RunState,
): Result<PublishedRun, Failure> {
  const run = services.history.run(lookedUp.id) ?? lookedUp;
  if (run.repositoryId !== services.principal.repositoryId)
    return fail(
      "not-in-this-state",
      `Run ${run.id} belongs to ${run.topLevel}, not to this repository.`,
      {
        cure: `Change to ${run.topLevel} first.`,
      },
    );
  const { branch, head, task } = run;
  if (!mayBecome(run.state, next) || branch === null || head === null || task === null)
    return fail(
      "not-in-this-state",
      `Run ${run.id} is ${run.state}, so it cannot become ${next}.`,
      {
        cure: `See \`guardloop show ${run.id}\`.`,
      },
    );
  return ok({ ...run, branch, head, task });
}

export function recordDecision(services: DecisionServices, run: RunRecord, event: RunEvent): void {
  services.history.append(run.id, event);
}

/** Where what a run had landed is kept after a rollback, if the agent branch does not lead to it any more. */
export function rolledBackRef(runId: string, landed: string): string {
  return `refs/guardloop/rolled-back/${runId}-${landed.slice(0, 12)}`;
}

/** Where a discarded run's commits are kept, out of the way of `git branch`. */
export function discardedRef(runId: string): string {
  return `refs/guardloop/discarded/${runId}`;
}
