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
  /** Run ids that begin with the prefix, newest first. */
  idsWithPrefix(prefix: string): readonly string[];
}
