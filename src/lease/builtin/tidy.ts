import { lstat, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { gitText } from "../../git/git.ts";
import { mayBeAlive } from "../../process/owner.ts";
import { worthOfDirectory, worthOfWorktree } from "../worth.ts";
import { ownership } from "../sighting.ts";
import { dropLease, takeSlot } from "./claim.ts";
import type { Pool } from "./pool.ts";
import { newRecord, recordsOf } from "./record.ts";
import { type Slot, existingSlots } from "./slots.ts";

/** Who holds a slot while its worktree is taken away. No run's holder, so that recovery does not return it. */
const HOLDER = "guardloop-gc";

/** A worktree of the pool that nobody has leased. */
export interface FreeWorktree {
  readonly path: string;
  /** When its last lease was returned. */
  readonly usedMs: number;
}

export interface PoolTidy {
  /** The free worktrees, those used last first. Changes nothing. */
  free(): Promise<readonly FreeWorktree[]>;
  /** What of one could not be had again, to follow "it stays, because"; undefined when it is provably nothing. */
  worth(path: string): Promise<string | undefined>;
  /**
   * Takes a free worktree away with its registration. Holds its slot meanwhile, so that no run can get it, and judges
   * it again. May be called again after a crash at any point.
   *
   * @param away removes a directory in one step.
   * @returns `kept` when it is leased or worth something by now, or gone already.
   */
  remove(path: string, away: (path: string) => Promise<unknown>): Promise<"removed" | "kept">;
  /** Registrations of worktrees in this pool that are not there any more, of slots that nobody holds. */
  lost(): Promise<Result<readonly string[], Failure>>;
  /** Removes exactly that registration. */
  forget(path: string): Promise<"removed" | "kept">;
  /** Paths of directories in free slots that Git does not know as worktrees of this repository. */
  unregistered(): Promise<readonly string[]>;
  /** Slots that a removal holds whose process is dead; `free` hides them. */
  stuck(): Promise<readonly string[]>;
  /** Frees those slots. */
  unstick(): Promise<void>;
}

/** Keeps a built-in pool in order. */
export function tidyPool(pool: Pool): PoolTidy {
  return {
    free: async () => {
      const found: FreeWorktree[] = [];
      for (const slot of await freeSlots(pool)) {
        const path = join(slot.directory, pool.worktree);
        if (await isThere(path)) found.push({ path, usedMs: await usedMs(slot) });
      }
      return found.toSorted((a, b) => b.usedMs - a.usedMs);
    },
    worth: (path) => worthOf(pool, path),
    remove: (path, away) =>
      whileHolding(pool, path, async () => {
        if (!(await isThere(path)) || (await worthOf(pool, path)) !== undefined) return "kept";
        await away(path);
        await forgetWorktree(pool, path);
        return "removed";
      }),
    lost: () => lostRegistrations(pool),
    forget: (path) =>
      whileHolding(pool, path, async () => {
        if (await isThere(path)) return "kept";
        await forgetWorktree(pool, path);
        return "removed";
      }),
    unregistered: async () => {
      const paths = (await freeSlots(pool)).map((slot) => join(slot.directory, pool.worktree));
      const owners = await Promise.all(
        paths.map((path) => ownership(pool.git, path, pool.commonDir)),
      );
      return paths.filter((_, index) => ["broken", "foreign"].includes(owners[index] ?? ""));
    },
    stuck: async () => (await stuckSlots(pool)).map(({ slot }) => slot.directory),
    unstick: async () => {
      for (const { slot, id } of await stuckSlots(pool)) await dropLease(slot, id);
    },
  };
}

async function freeSlots(pool: Pool): Promise<readonly Slot[]> {
  const free: Slot[] = [];
  for (const slot of await existingSlots(pool.root)) {
    const { records, unreadable } = await recordsOf(slot);
    if (records.length + unreadable.length === 0) free.push(slot);
  }
  return free;
}

async function stuckSlots(pool: Pool) {
  const stuck: { readonly slot: Slot; readonly id: string }[] = [];
  for (const slot of await existingSlots(pool.root))
    for (const { holder, owner, id } of (await recordsOf(slot)).records)
      if (holder === HOLDER && !mayBeAlive(owner, pool.host)) stuck.push({ slot, id });
  return stuck;
}

async function worthOf(pool: Pool, path: string): Promise<string | undefined> {
  const owner = await ownership(pool.git, path, pool.commonDir);
  if (owner === "foreign") return "it belongs to another repository";
  if (owner !== "ours") return worthOfDirectory(pool.git, pool.commonDir, path);
  if (await isLocked(pool, path)) return "somebody has locked it (`git worktree lock`)";
  return worthOfWorktree(pool.git, path);
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** A lease's return takes our own lock away, so one on a free worktree is the user's. */
async function isLocked(pool: Pool, path: string): Promise<boolean> {
  const rows = await registrations(pool);
  const real = await realpath(path).catch(() => path);
  return !rows.ok || rows.value.some((row) => row.locked && [path, real].includes(row.path));
}

/** The directory of the lease changes when the lease is returned. */
async function usedMs(slot: Slot): Promise<number> {
  const found = await stat(slot.leaseDirectory).catch(() => undefined);
  return (found ?? (await stat(slot.directory).catch(() => undefined)))?.mtimeMs ?? Number.NaN;
}

async function whileHolding(
  pool: Pool,
  path: string,
  act: () => Promise<"removed" | "kept">,
): Promise<"removed" | "kept"> {
  const slots = await existingSlots(pool.root);
  const slot = slots.find(({ directory }) => join(directory, pool.worktree) === path);
  if (slot === undefined) return "kept";
  const record = newRecord(HOLDER, pool.worktree, pool.host);
  if ((await takeSlot(pool.root, slot, record)) === "held") return "kept";
  try {
    return await act();
  } finally {
    await dropLease(slot, record.id);
  }
}

/** Takes exactly this registration away; `worktree prune` would also forget worktrees whose disk is not mounted now. */
async function forgetWorktree(pool: Pool, path: string): Promise<void> {
  await pool.git.exec(["worktree", "unlock", path]);
  await pool.git.exec(["worktree", "remove", "--force", "--force", path]);
}

async function lostRegistrations(pool: Pool): Promise<Result<readonly string[], Failure>> {
  const rows = await registrations(pool);
  if (!rows.ok) return rows;
  const known = new Set(rows.value.map(({ path }) => path));
  const lost: string[] = [];
  for (const { directory } of await freeSlots(pool)) {
    const path = join(directory, pool.worktree);
    if (await isThere(path)) continue;
    // Git writes a path without links.
    const real = join(await realpath(directory).catch(() => directory), pool.worktree);
    if (known.has(path) || known.has(real)) lost.push(path);
  }
  return ok(lost);
}

async function registrations(
  pool: Pool,
): Promise<Result<readonly { readonly path: string; readonly locked: boolean }[], Failure>> {
  const listed = await gitText(pool.git, ["worktree", "list", "--porcelain", "-z"]);
  if (!listed.ok) return listed;
  const entries = listed.value.split("\0\0").map((entry) => entry.split("\0"));
  return ok(
    entries.flatMap((lines) => {
      const path = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
      const locked = lines.some((line) => line === "locked" || line.startsWith("locked "));
      return path === undefined ? [] : [{ path, locked }];
    }),
  );
}
