import { randomBytes } from "node:crypto";
import { link, mkdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../core/errno.ts";
import { syncDirectory } from "../../files/write-atomic.ts";
import { mayBeAlive, ownerOf } from "../../process/owner.ts";
import { type LeaseRecord, readRecord, writeRecord } from "./record.ts";
import { type Slot, namesIn } from "./slots.ts";

/**
 * How a slot changes hands without a lock.
 *
 * A slot's lease is a directory with one file named by the lease id. Taking it is rename(2) of a complete directory:
 * it replaces an absent or empty one and fails on one that holds a file, so of two takers one wins, and nobody ever
 * sees half a record. Giving it back is unlink(2) of the name with the id: a late return with an old id cannot hit a
 * newer lease. A crash leaves a complete record or none.
 */
export async function takeSlot(
  root: string,
  slot: Slot,
  record: LeaseRecord,
): Promise<"taken" | "held"> {
  if ((await namesIn(slot.leaseDirectory)).length > 0) return "held";
  const fresh = join(root, `.new-${record.id}`);
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
 * Makes the caller the only one that returns this lease, so that no second return cleans a worktree which has been
 * leased anew meanwhile. The marker keeps the slot taken; a marker whose process is proven dead is replaced.
 *
 * @returns `claimed`; `gone` when the lease holds the slot no longer; `busy` when a living process is returning it.
 */
export async function claimReturn(
  slot: Slot,
  id: string,
  host: string,
): Promise<"claimed" | "gone" | "busy"> {
  const lease = await readRecord(join(slot.leaseDirectory, fileName(id)));
  const marker = join(slot.leaseDirectory, markerName(id));
  const earlier = await readRecord(marker);
  if (typeof earlier === "object" && mayBeAlive(earlier.owner, host)) return "busy";
  const record = typeof lease === "object" ? lease : earlier;
  if (typeof record !== "object") return "gone";
  if (earlier !== "gone") await unlinkIfThere(marker);
  const won = await linkNew(slot, marker, { ...record, owner: ownerOf(process.pid, host) });
  if (!won) return "busy";
  if (lease !== "gone" && (await readRecord(join(slot.leaseDirectory, fileName(id)))) === "gone") {
    // Another process finished its return between our look and our marker.
    await unlinkIfThere(marker);
    return "gone";
  }
  return "claimed";
}

/** Ends a claimed return: the slot is free afterwards. */
export async function finishReturn(slot: Slot, id: string): Promise<void> {
  await dropLease(slot, id);
  await unlinkIfThere(join(slot.leaseDirectory, markerName(id)));
}

/** Removes records that died on their way into a slot. */
export async function sweepUnfinished(root: string, host: string): Promise<void> {
  for (const name of await namesIn(root)) {
    const id = /^\.new-([0-9a-f]{32})$/.exec(name)?.[1];
    if (id === undefined) continue;
    const record = await readRecord(join(root, name, fileName(id)));
    if (typeof record !== "object" || mayBeAlive(record.owner, host)) continue;
    await rm(join(root, name), { recursive: true, force: true });
  }
}

async function linkNew(slot: Slot, path: string, record: LeaseRecord): Promise<boolean> {
  const temporary = join(slot.directory, `.marker-${randomBytes(8).toString("hex")}`);
  await writeRecord(temporary, record);
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (["EEXIST", "ENOENT"].includes(errnoOf(error))) return false;
    throw error;
  } finally {
    await unlinkIfThere(temporary);
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

function markerName(id: string): string {
  return `${id}.returning.json`;
}
