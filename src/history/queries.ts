import type Database from "libsql";
import { type RunSummary, foldRun } from "../core/run-record.ts";
import type { RunState } from "../core/run-state.ts";
import { rows, toEvent } from "./rows.ts";

function inState(where: string): string {
  return `SELECT run_id FROM run_states WHERE state IN (SELECT value FROM json_each(?))${where} ORDER BY created_seq DESC`;
}

function ids(found: unknown): readonly string[] {
  return rows(found).map((row) => row.run_id);
}

/** Questions that an index answers; each gives run ids, newest first. */
export function idQueries(database: Database.Database) {
  const statements = {
    withPrefix: database.prepare(
      "SELECT run_id FROM run_states WHERE substr(run_id, 1, length(?)) = ? ORDER BY created_seq DESC",
    ),
    inState: database.prepare(inState("")),
    inStateOf: database.prepare(inState(" AND repository_id = ?")),
    undecided: database.prepare(
      "SELECT run_id FROM run_states WHERE repository_id = ? AND intent = 1 ORDER BY created_seq DESC",
    ),
    newest: database.prepare("SELECT run_id FROM run_states ORDER BY created_seq DESC LIMIT 1"),
    newestOf: database.prepare(
      "SELECT run_id FROM run_states WHERE repository_id = ? ORDER BY created_seq DESC LIMIT 1",
    ),
  };
  const lastUntil = database.prepare(
    "SELECT at FROM events WHERE at <= ? ORDER BY seq DESC LIMIT 1",
  );
  const first = database.prepare("SELECT at FROM events ORDER BY seq LIMIT 1");
  return {
    lastEventUntil(time: Date): Date | undefined {
      const [found] = [...rows(lastUntil.all(time.toISOString())), ...rows(first.all())];
      return found === undefined ? undefined : new Date(found.at);
    },
    withPrefix: (prefix: string) => ids(statements.withPrefix.all(prefix, prefix)),
    inState(states: readonly RunState[], repositoryId?: string) {
      const wanted = JSON.stringify(states);
      return ids(
        repositoryId === undefined
          ? statements.inState.all(wanted)
          : statements.inStateOf.all(wanted, repositoryId),
      );
    },
    undecided: (repositoryId: string) => ids(statements.undecided.all(repositoryId)),
    newest: (repositoryId?: string) =>
      ids(
        repositoryId === undefined
          ? statements.newest.all()
          : statements.newestOf.all(repositoryId),
      ),
  };
}

/** Folds runs in one pass, the newest first. What stages put out can be large and is not read. */
export function summaries(
  database: Database.Database,
  repositoryId: string | undefined,
  limit: number | undefined,
): readonly RunSummary[] {
  const where = repositoryId === undefined ? "" : "WHERE repository_id = ?";
  const statement = database.prepare(
    `SELECT e.seq, e.run_id, e.at, e.data
     FROM (SELECT * FROM run_states ${where} ORDER BY created_seq DESC LIMIT ?) r
     JOIN events e ON e.run_id = r.run_id
       AND e.type NOT IN ('stage-intent', 'stage-done', 'stage-failed', 'stage-undone')
     ORDER BY r.created_seq DESC, e.seq`,
  );
  // In SQLite, a negative limit is none.
  const atMost = limit === undefined || limit === Infinity ? -1 : limit;
  const found = rows(
    repositoryId === undefined ? statement.all(atMost) : statement.all(repositoryId, atMost),
  );
  const runs: RunSummary[] = [];
  for (let start = 0, end = 0; start < found.length; start = end) {
    while (end < found.length && found[end]?.run_id === found[start]?.run_id) end += 1;
    const run = foldRun(found.slice(start, end).map(toEvent));
    if (run !== undefined) runs.push(run);
  }
  return runs;
}
