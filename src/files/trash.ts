import { randomBytes } from "node:crypto";
import { chmod, lstat, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";
import type { Owner } from "../process/owner.ts";
import { takeLock } from "./lock-file.ts";
import { ensurePrivateDirectory } from "./private-directory.ts";
import { removeTree } from "./remove-tree.ts";

/** What could not be removed is called so, and is tried again only when a person says so. */
const STUCK = ".stuck";

/**
 * Where things lie that are to be removed: `<state directory>/trash/<random name>`. Nothing looks for anything there, so
 * whatever is in it may go at any time, by anybody, and is found without the database.
 */
export function trashDirectory(stateDir: string): string {
  return join(stateDir, "trash");
}

/** Held by the one process that empties the trash. */
export function trashLock(stateDir: string): string {
  return join(stateDir, "locks", "trash");
}

/**
 * Takes a directory or file of ours away in one step. It must lie on the state directory's own file system. A path that is
 * a link loses the link, not what it points to.
 *
 * @returns where it is now; undefined when there was nothing.
 */
export async function setAside(stateDir: string, path: string): Promise<string | undefined> {
  const trash = trashDirectory(stateDir);
  await ensurePrivateDirectory(trash);
  const aside = join(trash, randomBytes(12).toString("hex"));
  try {
    await rename(path, aside);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    // A directory that is moved must be writable, since its entry `..` changes; an agent can take that away.
    if (errnoOf(error) !== "EACCES" || !(await lstat(path)).isDirectory()) throw error;
    await chmod(path, 0o700);
    await rename(path, aside);
  }
  return aside;
}

export interface TrashContent {
  /** Absolute paths of what is still to be removed. */
  readonly waiting: readonly string[];
  /** The same of what could not be removed. */
  readonly stuck: readonly string[];
}

export async function trashContent(stateDir: string): Promise<TrashContent> {
  const trash = trashDirectory(stateDir);
  const names = await readdir(trash).catch(() => []);
  const at = (name: string): string => join(trash, name);
  return {
    waiting: names.filter((name) => !name.endsWith(STUCK)).map(at),
    stuck: names.filter((name) => name.endsWith(STUCK)).map(at),
  };
}

/**
 * Removes what is in the trash, one process at a time. May be killed at any point and called again. Somebody who puts a
 * thing there and then sees the lock held can leave it to the holder, who looks once more after it has let go.
 *
 * @returns `busy` while another process does it.
 */
export async function emptyTrash(stateDir: string, owner: Owner): Promise<"emptied" | "busy"> {
  const immovable = new Set<string>();
  const waiting = async (): Promise<readonly string[]> =>
    (await trashContent(stateDir)).waiting.filter((path) => !immovable.has(path));
  while ((await waiting()).length > 0) {
    const lock = await takeLock(trashLock(stateDir), owner);
    if ("heldBy" in lock) return "busy";
    await using held = lock;
    for (const path of await waiting()) if (!(await removeOrMark(path))) immovable.add(path);
    // Named so that the lock is seen to be held until here.
    void held;
  }
  return "emptied";
}

/** @returns whether it need not be looked at again. */
async function removeOrMark(path: string): Promise<boolean> {
  try {
    await removeTree(path);
    return true;
  } catch {
    return rename(path, `${path}${STUCK}`).then(
      () => true,
      () => false,
    );
  }
}
