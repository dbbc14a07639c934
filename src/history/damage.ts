import { rename } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";

/** Extended result codes begin with these; see https://www.sqlite.org/rescode.html. */
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)/;

export function historyFile(stateDir: string): string {
  return join(stateDir, "history.db");
}

/** Whether SQLite says that the file itself is broken, not that it cannot be reached or is locked. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.test(errnoOf(error));
}

/**
 * Renames a damaged history with its log, so that a new one can be begun; nothing of it is overwritten or deleted.
 *
 * @returns where the database is kept.
 */
export async function keepAside(stateDir: string, now: Date): Promise<string> {
  const path = historyFile(stateDir);
  const aside = `${path}.damaged-${now.toISOString().replaceAll(/[:.]/g, "-")}`;
  // The write-ahead log first: were it left behind, SQLite would play it into the new database.
  for (const suffix of ["-wal", "-shm", ""])
    await rename(`${path}${suffix}`, `${aside}${suffix}`).catch((error: unknown) => {
      if (errnoOf(error) !== "ENOENT") throw error;
    });
  return aside;
}
