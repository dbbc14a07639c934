import { chmodSync } from "node:fs";
import Database from "libsql";
import type { RunEvent, StoredEvent } from "../core/events.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { foldRun } from "../core/run-record.ts";
import { historyFile, isDamage } from "./damage.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { History } from "./port.ts";

/** How long a statement waits for another process's write. */
const BUSY_TIMEOUT_MS = 10_000;

interface EventRow {
  readonly seq: number;
  readonly run_id: string;
  readonly at: string;
  readonly data: string;
}

/**
 * Opens `<stateDir>/history.db`, creating or migrating it. A database from a newer guardloop and a damaged one are
 * refused and left as they are.
 *
 * @returns `history-damaged` for a file that SQLite does not take for a database, or not for a whole one.
 */
export function openHistory(stateDir: string, now: () => Date): Result<History, Failure> {
  const path = historyFile(stateDir);
  try {
    const database = new Database(path);
    const migrated = migrate(database, path);
    if (!migrated.ok) {
      database.close();
      return migrated;
    }
    chmodSync(path, 0o600);
    return ok(historyOn(database, now));
  } catch (error) {
    if (isDamage(error)) return fail("history-damaged", `${path} is damaged: ${messageOf(error)}.`);
    return fail("state-unusable", `${path} cannot be used: ${messageOf(error)}`, {
      cure: "Check free space and permissions, then try again.",
    });
  }
}

/**
 * Reads the whole database and says whether it is sound: damage in its middle shows only when somebody reads there.
 *
 * @returns `history-damaged`, or `state-unusable` when it cannot be read at all.
 */
export function checkDatabase(stateDir: string): Result<void, Failure> {
  const path = historyFile(stateDir);
  try {
    const database = new Database(path);
    try {
      const [found] = database.prepare("PRAGMA quick_check(1)").raw().all();
      const said = Array.isArray(found) ? String(found[0]) : "nothing";
      return said === "ok"
        ? ok(undefined)
        : fail("history-damaged", `${path} is damaged: ${said.split("\n")[0] ?? ""}.`);
    } finally {
      database.close();
    }
  } catch (error) {
    if (isDamage(error)) return fail("history-damaged", `${path} is damaged: ${messageOf(error)}.`);
    return fail("state-unusable", `${path} cannot be read: ${messageOf(error)}`);
  }
}

function migrate(database: Database.Database, path: string): Result<void, Failure> {
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  const version = userVersion(database);
  if (version > MIGRATIONS.length)
    return fail(
      "state-unusable",
      `${path} was written by a newer guardloop (database version ${version}, known ${MIGRATIONS.length}).`,
      { cure: "Update guardloop, or set XDG_STATE_HOME to another directory." },
    );
  if (version === MIGRATIONS.length) return ok(undefined);
  database.exec("BEGIN IMMEDIATE");
  try {
    // Read again inside the transaction: another process may have migrated meanwhile.
    for (const sql of MIGRATIONS.slice(userVersion(database))) database.exec(sql);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
  return ok(undefined);
}

function userVersion(database: Database.Database): number {
  const row: unknown = database
    .prepare("SELECT user_version AS version FROM pragma_user_version")
    .get();
  if (typeof row === "object" && row !== null && "version" in row) return Number(row.version);
  throw new Error("the database does not tell its version");
}

function historyOn(database: Database.Database, now: () => Date): History {
  const insert = database.prepare(
    "INSERT INTO events (run_id, at, type, data) VALUES (?, ?, ?, ?)",
  );
  const ofRun = database.prepare(
    "SELECT seq, run_id, at, data FROM events WHERE run_id = ? ORDER BY seq",
  );
  const ids = database.prepare(
    "SELECT run_id FROM events WHERE type = 'run-created' AND substr(run_id, 1, length(?)) = ? ORDER BY seq DESC",
  );
  const idsOfRepository = database.prepare(
    "SELECT run_id FROM events WHERE type = 'run-created' AND json_extract(data, '$.repositoryId') = ? ORDER BY seq DESC",
  );
  const unended = database.prepare(
    `SELECT run_id FROM events AS created WHERE type = 'run-created' AND NOT EXISTS (
       SELECT 1 FROM events AS ended WHERE ended.run_id = created.run_id
         AND ended.type IN ('run-ready', 'run-failed', 'run-interrupted')
     ) ORDER BY seq DESC`,
  );
  const events = (runId: string): readonly StoredEvent[] => rows(ofRun.all(runId)).map(toEvent);
  const idsWithPrefix = (prefix: string): readonly string[] =>
    rows(ids.all(prefix, prefix)).map((row) => row.run_id);
  const run = (runId: string) => foldRun(events(runId));
  return {
    append(runId, event): StoredEvent {
      const at = now().toISOString();
      const { lastInsertRowid } = insert.run(runId, at, event.type, JSON.stringify(event));
      return { seq: Number(lastInsertRowid), runId, at, event };
    },
    events,
    run,
    runs(repositoryId) {
      const found =
        repositoryId === undefined
          ? idsWithPrefix("")
          : rows(idsOfRepository.all(repositoryId)).map((row) => row.run_id);
      return found.map(run).filter((record) => record !== undefined);
    },
    running: (repositoryId) =>
      rows(unended.all())
        .map((row) => run(row.run_id))
        .filter((record) => record !== undefined)
        .filter((record) => repositoryId === undefined || record.repositoryId === repositoryId),
    exclusively: (act) => inTransaction(database, act),
    idsWithPrefix,
    [Symbol.dispose](): void {
      database.close();
    },
  };
}

/** Takes the write lock at once: a transaction that only later wants to write could find that what it read is old. */
function inTransaction<T>(database: Database.Database, act: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const value = act();
    database.exec("COMMIT");
    return value;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

// The driver types its rows as unknown; the table's own constraints say what is in them.
function rows(found: unknown): readonly EventRow[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return found as readonly EventRow[];
}

function toEvent(row: EventRow): StoredEvent {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const event = JSON.parse(row.data) as RunEvent;
  return { seq: row.seq, runId: row.run_id, at: row.at, event };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
