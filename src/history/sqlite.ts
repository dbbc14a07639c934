import { chmodSync } from "node:fs";
import Database from "libsql";
import { errnoOf } from "../core/errno.ts";
import type { StoredEvent } from "../core/events.ts";
import { type Failure, fail } from "../core/failures.ts";
import { hostFault } from "../core/host-fault.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type RunRecord, foldRun } from "../core/run-record.ts";
import { historyFile, isDamage, isEmptied } from "./damage.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { History } from "./port.ts";
import { idQueries, summaries } from "./queries.ts";
import { rows, toEvent } from "./rows.ts";

/** How long a statement waits for another process's write; nothing else happens in this process meanwhile. */
const BUSY_TIMEOUT_MS = 10_000;
/** So often an event is tried: a run must not fail because a backup reads slowly. */
const APPEND_TRIES = 6;

/**
 * Opens `<stateDir>/history.db`, creating or migrating it. A database from a newer guardloop and a damaged one are
 * refused and left as they are.
 *
 * @returns `history-damaged` for a file that SQLite does not take for a database, or not for a whole one.
 */
export function openHistory(stateDir: string, now: () => Date): Result<History, Failure> {
  const path = historyFile(stateDir);
  try {
    if (isEmptied(stateDir)) return damaged(path, "it is empty, and there are records of runs");
    const database = new Database(path);
    const migrated = migrate(database, path);
    if (!migrated.ok) {
      database.close();
      return migrated;
    }
    chmodSync(path, 0o600);
    return ok(historyOn(database, path, now));
  } catch (error) {
    if (isDamage(error)) return damaged(path, messageOf(error));
    const fault = hostFault(error);
    if (fault !== undefined && fault.code !== "state-unusable") return err(fault);
    return fail("state-unusable", `${path} cannot be opened for writing: ${messageOf(error)}.`, {
      cure: "Check that its directory is yours and on a file system that is not read-only, or set XDG_STATE_HOME to another one.",
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
    if (isEmptied(stateDir)) return damaged(path, "it is empty, and there are records of runs");
    const database = new Database(path);
    try {
      return verify(database, path);
    } finally {
      database.close();
    }
  } catch (error) {
    if (isDamage(error)) return damaged(path, messageOf(error));
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
    // On a full disk SQLite has rolled back by itself; what counts is why.
    if (database.inTransaction) database.exec("ROLLBACK");
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

function historyOn(database: Database.Database, path: string, now: () => Date): History {
  const insert = database.prepare(
    "INSERT INTO events (run_id, at, type, data) VALUES (?, ?, ?, ?)",
  );
  const ofRun = database.prepare(
    "SELECT seq, run_id, at, data FROM events WHERE run_id = ? ORDER BY seq",
  );
  const find = idQueries(database);
  const events = (runId: string): readonly StoredEvent[] => rows(ofRun.all(runId)).map(toEvent);
  const run = (runId: string): RunRecord | undefined => foldRun(events(runId));
  const records = (ids: readonly string[]): readonly RunRecord[] =>
    ids.map(run).filter((record) => record !== undefined);
  return {
    append(runId, event): StoredEvent {
      const at = now().toISOString();
      const { lastInsertRowid } = patiently(() =>
        insert.run(runId, at, event.type, JSON.stringify(event)),
      );
      return { seq: Number(lastInsertRowid), runId, at, event };
    },
    events,
    run,
    runs: (repositoryId, limit) => summaries(database, repositoryId, limit),
    runsInState: (states, repositoryId) => records(find.inState(states, repositoryId)),
    undecided: (repositoryId) => records(find.undecided(repositoryId)),
    newest: (repositoryId) => records(find.newest(repositoryId))[0],
    idsWithPrefix: find.withPrefix,
    lastEventUntil: (time) => find.lastEventUntil(time),
    verify: () => verify(database, path),
    exclusively: (act) => inTransaction(database, act),
    [Symbol.dispose](): void {
      database.close();
    },
  };
}

/** Takes the write lock at once: a transaction that only later wants to write could find that what it read is old. */
function inTransaction<T>(database: Database.Database, act: () => T): T {
  patiently(() => database.exec("BEGIN IMMEDIATE"));
  try {
    const value = act();
    database.exec("COMMIT");
    return value;
  } catch (error) {
    // A full disk has rolled it back by itself, and a second time would hide why.
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function patiently<T>(write: () => T): T {
  for (let attempt = 1; ; attempt += 1)
    try {
      return write();
    } catch (error) {
      if (!errnoOf(error).startsWith("SQLITE_BUSY") || attempt === APPEND_TRIES) throw error;
    }
}

function verify(database: Database.Database, path: string): Result<void, Failure> {
  try {
    // Every page and every row, in time that grows with their number; https://www.sqlite.org/pragma.html#pragma_quick_check.
    const row: unknown = database.prepare("SELECT * FROM pragma_quick_check(1)").get();
    const said = typeof row === "object" && row !== null ? String(Object.values(row)[0]) : "";
    return said === "ok" ? ok(undefined) : damaged(path, firstComplaint(said));
  } catch (error) {
    if (isDamage(error)) return damaged(path, messageOf(error));
    throw error;
  }
}

/** The answer begins with a heading, a line that says in which database. */
function firstComplaint(said: string): string {
  return said.split("\n").find((line) => line !== "" && !line.startsWith("***")) ?? said;
}

function damaged(path: string, why: string): Result<never, Failure> {
  return fail("history-damaged", `${path} is damaged: ${why}.`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
