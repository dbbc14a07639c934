import type { RunEvent, StoredEvent } from "../core/events.ts";
import type { Failure } from "../core/failures.ts";
import type { Result } from "../core/result.ts";
import type { RunRecord, RunSummary } from "../core/run-record.ts";
import type { RunState } from "../core/run-state.ts";

/** The journal of all runs on this host. Events are appended and never changed. */
export interface History extends Disposable {
  /** Durable when it returns: one transaction, synced to disk. */
  append(runId: string, event: RunEvent): StoredEvent;
  /** Oldest first. */
  events(runId: string): readonly StoredEvent[];
  run(runId: string): RunRecord | undefined;
  /** Newest first, at most `limit`; without a repository id, the runs of all repositories. */
  runs(repositoryId?: string, limit?: number): readonly RunSummary[];
  /** Only runs in one of these states, with their stages. Quick where they are few, however many others there are. */
  runsInState(states: readonly RunState[], repositoryId?: string): readonly RunRecord[];
  /** Runs with a decision that was begun and of which no outcome is recorded, newest first. */
  undecided(repositoryId: string): readonly RunRecord[];
  /** The run that was created last; without a repository id, of all repositories. */
  newest(repositoryId?: string): RunRecord | undefined;
  /** When the last event was that is not of later than the given time; without one, when the first of all was. */
  lastEventUntil(time: Date): Date | undefined;
  /** Reads everything there is; `history-damaged` where a part of it is broken. Takes as long as the history is large. */
  verify(): Result<void, Failure>;
  /**
   * Acts while no other process can write: what `act` reads is still so when what it appends is durable. All of it
   * or nothing; `act` must not wait for anything.
   */
  exclusively<T>(act: () => T): T;
  /** Run ids that begin with the prefix, newest first. */
  idsWithPrefix(prefix: string): readonly string[];
}
