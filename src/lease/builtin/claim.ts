import { createHash } from "node:crypto";
import { mkdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../core/errno.ts";
import { syncDirectory } from "../../files/write-atomic.ts";
import { type Owner, isRunning, mayBeAlive, ownerOf } from "../../process/owner.ts";
import { type LeaseRecord, readRecord, writeRecord } from "./record.ts";
import { type Slot, namesIn } from "./slots.ts";

/**
 * How a slot changes hands without a lock.
 *
 * A slot's lease is a directory with one file named by the lease id. Taking it is rename(2) of a complete directory:
 * it replaces an absent or empty one and fails on one that holds a file, so of two takers one wins, and nobody ever
 * sees half a record. Giving it back is unlink(2) of the name with the id: a late return with an old id cannot hit a
 * newer lease. A crash leaves a complete record or none.
 *
 * The file is the lease's fence: every git that writes to the worktree looks for it right before it starts. What remains
 * is a git that is under way already while somebody takes its lease away.
 */
export async function takeSlot(
  root: string,
  slot: Slot,
  record: LeaseRecord,
): Promise<"taken" | "held"> {
  if ((await namesIn(slot.leaseDirectory)).length > 0) return "held";
  const fresh = join(root, `.new-${record.id}-${process.pid}`);
  await mkdir(fresh, { mode: 0o700 });
  try {
    await writeRecord(join(fresh, fileName(record.id)), record);
    await mkdir(slot.directory, { recursive: true, mode: 0o700 });
    await rename(fresh, slot.leaseDirectory);
    await syncDirectory(slot.directory);
    return "taken";
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (["ENOTEMPTY", "EEXIST"].includes(errnoOf(error))) return "held";
    throw error;
  }
}

/** Frees the slot if that lease still holds it; otherwise nothing happens. */
export async function dropLease(slot: Slot, id: string): Promise<"dropped" | "gone"> {
  return unlinkIfThere(join(slot.leaseDirectory, fileName(id)));
}

/**
 * Makes the caller the only one that returns this lease, and from that moment on the holder holds it no more. Taking it
 * is rename(2) of the lease to a name that says who returns it: of two processes one wins, the slot stays taken, and a
 * process that comes late, as holder or as returner, does not find its own file. One whose process is proven dead is
 * taken over in the same way.
 *
 * @returns the claim's file, which is the fence for all that the return does; `gone` when the lease holds the slot no
 *   longer; `busy` when a living process is returning it.
 */
export async function claimReturn(
  slot: Slot,
  id: string,
  host: string,
): Promise<{ readonly fence: string } | "gone" | "busy"> {
  const mine = join(slot.leaseDirectory, claimName(id, ownerOf(process.pid, host)));
  for (const name of await namesIn(slot.leaseDirectory)) {
    if (!name.startsWith(`${id}.`)) continue;
    const path = join(slot.leaseDirectory, name);
    const claimer = claimerOf(name, host);
    if (claimer === "elsewhere") return "busy";
    if (claimer !== "holder" && mayBeAlive(claimer, host)) return "busy";
    if (await renameIfThere(path, mine)) return { fence: mine };
  }
  return "gone";
}

/** Ends a claimed return: the slot is free afterwards. */
export async function finishReturn(claim: { readonly fence: string }): Promise<void> {
  await unlinkIfThere(claim.fence);
}

/** The file that is there while the lease is held and nobody has begun to return it. */
export function fenceOf(slot: Slot, id: string): string {
  return join(slot.leaseDirectory, fileName(id));
}

/** Removes records that died on their way into a slot. */
export async function sweepUnfinished(root: string, host: string): Promise<void> {
  for (const name of await namesIn(root)) {
    const [, id, pid] = /^\.new-([0-9a-f]{32})-(\d{1,10})$/.exec(name) ?? [];
    if (id === undefined) continue;
    const record = await readRecord(join(root, name, fileName(id)));
    const isAlive =
      typeof record === "object" ? mayBeAlive(record.owner, host) : isRunning(Number(pid));
    if (isAlive) continue;
    await rm(join(root, name), { recursive: true, force: true });
  }
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function unlinkIfThere(path: string): Promise<"dropped" | "gone"> {
  try {
    await unlink(path);
    return "dropped";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error))) return "gone";
    throw error;
  }
}

function fileName(id: string): string {
  return `${id}.json`;
}

/** Process id, start time, boot id, and a short hash of the host: all that `mayBeAlive` needs. */
export function claimName(id: string, owner: Owner): string {
  const { pid, startTime, bootId } = owner;
  return `${id}.returning-${pid}-${startTime}-${bootId}-${hostTag(owner.host)}.json`;
}

function claimerOf(name: string, host: string): Owner | "holder" | "elsewhere" {
  const found = /\.returning-(\d+)-(\d*)-([0-9a-f-]*)-([0-9a-f]{8})\.json$/.exec(name);
  if (found === null) return "holder";
  const [, pid = "", startTime = "", bootId = "", tag] = found;
  if (tag !== hostTag(host)) return "elsewhere";
  return { pid: Number(pid), startTime, bootId, host };
}

function hostTag(host: string): string {
  return createHash("sha256").update(host).digest("hex").slice(0, 8);
}
