import { randomBytes } from "node:crypto";
import { link, readFile, readdir, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";
import { type Owner, isRunning, mayBeAlive, ownerOf } from "../process/owner.ts";

export interface HeldLock extends AsyncDisposable {
  readonly path: string;
}

/**
 * Takes a lock that one living process can hold. The lock file names its owner, so one whose owner is provably dead
 * is taken over. Does not wait.
 *
 * @returns the owner's process id where somebody living holds it.
 */
export async function takeLock(path: string, owner: Owner): Promise<HeldLock | { heldBy: number }> {
  // Two takers may be in one process.
  const mine = `${path}.${owner.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(mine, JSON.stringify(owner), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      // link(2) makes the file with its content in one step, or fails when there is one.
      const linked = await link(mine, path).then(
        () => true,
        (error: unknown) => {
          if (errnoOf(error) === "EEXIST") return false;
          throw error;
        },
      );
      if (linked) return held(path);
      const holder = await readOwner(path);
      if (holder !== undefined && mayBeAlive(holder, owner.host)) return { heldBy: holder.pid };
      await removeStale(path, mine, owner.host);
    }
    return { heldBy: 0 };
  } finally {
    await rm(mine, { force: true });
  }
}

/** Whether a living process holds the lock. */
export async function isHeld(path: string, host: string): Promise<boolean> {
  const holder = await readOwner(path);
  return holder !== undefined && mayBeAlive(holder, host);
}

/**
 * Removes lock files in a directory whose owner is proven dead, and what one that was killed while it took a lock left
 * beside it. Locks that somebody living holds stay. May be called again.
 */
export async function sweepLocks(directory: string, host: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    // A killed writer may have left it without a word in it.
    const taker = takerOf(name);
    const owner = await readOwner(path);
    if (owner !== undefined && mayBeAlive(owner, host)) continue;
    if (taker !== undefined) {
      if (owner !== undefined || !isRunning(taker)) await rm(path, { force: true });
    } else if (owner !== undefined) {
      // Taken and given back, so that one that was made meanwhile stays.
      const lock = await takeLock(path, ownerOf(process.pid, host));
      if (!("heldBy" in lock)) await lock[Symbol.asyncDispose]();
    }
  }
}

/**
 * The process id in the name of a file that is beside a lock while somebody takes it, or takes a stale one away;
 * undefined for a lock itself.
 */
export function takerOf(name: string): number | undefined {
  const pid = /\.(\d{1,10})(?:-[0-9a-f]{8})?(?:\.stale)?$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

function held(path: string): HeldLock {
  return {
    path,
    async [Symbol.asyncDispose](): Promise<void> {
      await rm(path, { force: true });
    },
  };
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    // Our own file in a directory that only we can write.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(await readFile(path, "utf8")) as Owner;
  } catch {
    return undefined;
  }
}

/**
 * Of two processes that find the same stale lock the second may take away what the first has just made: what was
 * renamed is looked at, and a living owner's is put back.
 */
async function removeStale(path: string, mine: string, host: string): Promise<void> {
  const aside = `${mine}.stale`;
  await rename(path, aside).catch(() => undefined);
  const taken = await readOwner(aside);
  if (taken !== undefined && mayBeAlive(taken, host))
    await link(aside, path).catch(() => undefined);
  await unlink(aside).catch(() => undefined);
}
