import { readdirSync, statSync } from "node:fs";
import { link, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";
import { syncDirectory } from "../files/write-atomic.ts";

/** Extended result codes begin with these; see https://www.sqlite.org/rescode.html. */
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)/;

export function historyFile(stateDir: string): string {
  return join(stateDir, "history.db");
}

/** Whether SQLite says that the file itself is broken, not that it cannot be reached or is locked. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.test(errnoOf(error));
}

/** A history is empty for a moment while it is begun; another process may be doing that now. */
const BEGINNING_MS = 60_000;

/**
 * Whether there is nothing left in the file although there were runs: after a power failure, a file system may give back
 * files without their content. SQLite would take it for a new database.
 */
export function isEmptied(stateDir: string): boolean {
  const file = statSync(historyFile(stateDir), { throwIfNoEntry: false });
  if (file === undefined || file.size > 0 || Date.now() - file.mtimeMs < BEGINNING_MS) return false;
  try {
    return readdirSync(join(stateDir, "runs")).length > 0;
  } catch {
    return false;
  }
}

/**
 * Puts a damaged history with its log under other names, so that a new one can be begun; nothing of it is overwritten
 * or deleted. To be called by one process at a time. After a crash in the middle it is called again, and the damaged
 * files may then be kept twice.
 *
 * @returns where the database is kept.
 */
export async function keepAside(stateDir: string, now: Date): Promise<string> {
  const path = historyFile(stateDir);
  const aside = `${path}.damaged-${now.toISOString().replaceAll(/[:.]/g, "-")}`;
  for (const suffix of SUFFIXES)
    await ignoringAbsence(link(`${path}${suffix}`, `${aside}${suffix}`));
  // The database first: SQLite deletes a log that it finds without one, but would play it into a new database.
  for (const suffix of SUFFIXES) await ignoringAbsence(unlink(`${path}${suffix}`));
  await syncDirectory(stateDir);
  return aside;
}

const SUFFIXES = ["", "-wal", "-shm"] as const;

async function ignoringAbsence(done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
