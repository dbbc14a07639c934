import { randomUUID } from "node:crypto";
import { chmod, lstat, readdir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { errnoOf } from "../core/errno.ts";

const SLASH = Buffer.from("/");
/** Paths longer than this are shortened before they are used: the kernel takes 4096 bytes at most. */
const LONG_PATH_BYTES = 2048;

/**
 * Removes a directory that a container may have filled, following no link. An agent can take the write permission
 * from its own directories (Go's module cache does), nest them deeper than any path can say, and give them names
 * that are not UTF-8; on refusal the tree is taken apart step by step. The container must be proven gone.
 * May be called again; a path that is not there is fine.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 2 });
  } catch {
    await takeApart(Buffer.from(path));
  }
}

/**
 * `rm` works on many entries at once, and those it had begun with go on after it has failed on one: what it removes
 * meanwhile is as good as removed by us.
 */
function unlessGone(error: unknown): undefined {
  if (errnoOf(error) !== "ENOENT") throw error;
  return undefined;
}

async function takeApart(root: Buffer): Promise<void> {
  const stat = await lstat(root).catch(() => undefined);
  if (stat === undefined) return;
  if (!stat.isDirectory()) return unlink(root).catch(unlessGone);
  await open(root);
  for (;;) {
    const refusals: unknown[] = [];
    await empty(root, root, refusals);
    if ((await entriesOf(root)).length === 0) break;
    if (refusals.length > 0) throw refusals[0];
    // What lay too deep was moved up to here meanwhile, so one round need not be enough.
  }
  await rmdir(root).catch(unlessGone);
}

/** Removes what can be removed of a directory's content; what refuses is passed over, and its error added to the list. */
async function empty(directory: Buffer, root: Buffer, refusals: unknown[]): Promise<void> {
  for (const entry of await entriesOf(directory)) {
    const child = Buffer.concat([directory, SLASH, entry.name]);
    try {
      if (!entry.isDirectory()) await unlink(child).catch(unlessGone);
      // An empty one can go whoever owns it and whatever its mode: overlay file systems leave one of root's.
      else if (!(await removeDirectory(child))) await emptyChild(child, root, refusals);
    } catch (error) {
      refusals.push(error);
    }
  }
}

async function emptyChild(child: Buffer, root: Buffer, refusals: unknown[]): Promise<void> {
  await open(child);
  if (child.length > LONG_PATH_BYTES) {
    const nearer = Buffer.concat([root, Buffer.from(`/.deep-${randomUUID()}`)]);
    await rename(child, nearer).catch(unlessGone);
    return;
  }
  await empty(child, root, refusals);
  await removeDirectory(child);
}

/** Somebody else's stays as it is, and may be open enough. */
async function open(directory: Buffer): Promise<void> {
  await chmod(directory, 0o700).catch((error: unknown) => {
    if (errnoOf(error) !== "EPERM") unlessGone(error);
  });
}

/** @returns false for one that is not empty: a directory of the root may get something moved into it meanwhile. */
async function removeDirectory(path: Buffer): Promise<boolean> {
  try {
    await rmdir(path).catch(unlessGone);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(errnoOf(error))) return false;
    throw error;
  }
}

async function entriesOf(directory: Buffer) {
  const entries = readdir(directory, { withFileTypes: true, encoding: "buffer" });
  return (await entries.catch(unlessGone)) ?? [];
}
