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
  await chmod(root, 0o700).catch(unlessGone);
  // What lay too deep was moved up to here meanwhile, so one round need not be enough.
  while ((await entriesOf(root)).length > 0) await empty(root, root);
  await rmdir(root).catch(unlessGone);
}

async function empty(directory: Buffer, root: Buffer): Promise<void> {
  for (const entry of await entriesOf(directory)) {
    const child = Buffer.concat([directory, SLASH, entry.name]);
    if (!entry.isDirectory()) {
      await unlink(child).catch(unlessGone);
      continue;
    }
    await chmod(child, 0o700).catch(unlessGone);
    if (child.length > LONG_PATH_BYTES) {
      const nearer = Buffer.concat([root, Buffer.from(`/.deep-${randomUUID()}`)]);
      await rename(child, nearer).catch(unlessGone);
      continue;
    }
    await empty(child, root);
    await removeDirectory(child);
  }
}

/** A directory of the root that got something moved into it meanwhile is left for the next round. */
async function removeDirectory(path: Buffer): Promise<void> {
  try {
    await rmdir(path).catch(unlessGone);
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY") throw error;
  }
}

async function entriesOf(directory: Buffer) {
  const entries = readdir(directory, { withFileTypes: true, encoding: "buffer" });
  return (await entries.catch(unlessGone)) ?? [];
}
