import type { RunEvent, StoredEvent } from "../core/events.ts";
import type { RunRecord } from "../core/run-record.ts";

/** The journal of all runs on this host. Events are appended and never changed. */
export interface History extends Disposable {
  /** Durable when it returns: one transaction, synced to disk. */
  append(runId: string, event: RunEvent): StoredEvent;
  /** Oldest first. */
  events(runId: string): readonly StoredEvent[];
  run(runId: string): RunRecord | undefined;
  /** Newest first; without a repository id, the runs of all repositories. */
  runs(repositoryId?: string): readonly RunRecord[];
  /** Those whose record says `running`, newest first, whether their process lives or not. */
  running(repositoryId?: string): readonly RunRecord[];
  /**
   * Acts while no other process can write: what `act` reads is still so when what it appends is durable. All of it
   * or nothing; `act` must not wait for anything.
   */
  exclusively<T>(act: () => T): T;
  /** Run ids that begin with the prefix, newest first. */
  idsWithPrefix(prefix: string): readonly string[];
}
