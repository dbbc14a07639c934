import { type Stats, constants, lstatSync } from "node:fs";
import { type FileHandle, open, opendir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { LIMITS } from "../core/limits.ts";
import type { DiskUse } from "../core/run-spec.ts";

/** POSIX counts what a file takes in blocks of 512 bytes, whatever the file system's own are. */
const BLOCK_BYTES = 512;
/** Entries that are asked about without a pause for anything else. */
const BATCH = 64;
/** A walk works this long, then rests three times as long, so that a tree of millions costs a quarter of a thread. */
const WORK_MS = 250;
const REST_MS = 3 * WORK_MS;

export interface DiskWalk {
  /** `over`: the walk ended early, at the limit. `deep`: there is more, deeper than it goes. `stopped`: by the signal. */
  readonly outcome: "whole" | "over" | "deep" | "stopped";
  /** What was counted until then. */
  readonly use: DiskUse;
}

export interface DiskWalkOptions {
  /** The walk ends when either is exceeded: whoever makes files by the million does not make it endless. */
  readonly limit: DiskUse;
  /** `gently` rests in between; for a tree that is looked at again and again. */
  readonly pace: "at-once" | "gently";
  readonly signal: AbortSignal;
}

/**
 * Measures directory trees that something hostile may be writing to right now: what their entries take on the disk.
 * Sparse files count by their blocks, hard links once, names may be any bytes. No link is followed, also not one that
 * takes a directory's place meanwhile: each directory is opened from the one above it. What vanishes does not count,
 * nor does what lies in a directory that this process may not read. Reads no content.
 */
export async function diskUse(
  roots: readonly string[],
  options: DiskWalkOptions,
): Promise<DiskWalk> {
  const walk: Walk = { ...options, bytes: 0, entries: 0, linked: new Set(), restAt: 0 };
  walk.restAt = performance.now() + WORK_MS;
  let outcome: DiskWalk["outcome"] = "whole";
  for (const root of roots) {
    const found = await walkDirectory(walk, Buffer.from(root), 0);
    if (found === "over" || found === "stopped") return { outcome: found, use: useOf(walk) };
    if (found === "deep") outcome = "deep";
  }
  return { outcome, use: useOf(walk) };
}

interface Walk extends DiskWalkOptions {
  bytes: number;
  entries: number;
  /** Inodes with several names that were counted already. */
  readonly linked: Set<number>;
  /** When to rest next; of `performance.now()`. */
  restAt: number;
}

function useOf({ bytes, entries }: Walk): DiskUse {
  return { bytes, entries };
}

async function walkDirectory(
  walk: Walk,
  path: Buffer,
  depth: number,
): Promise<DiskWalk["outcome"]> {
  if (depth > LIMITS.pathDepth) return "deep";
  const handle = await openDirectory(path);
  if (handle === undefined) return "whole";
  try {
    const here = reachable(handle, path);
    const below = await countEntries(walk, here);
    if (!Array.isArray(below)) return below;
    let outcome: DiskWalk["outcome"] = "whole";
    for (const name of below) {
      const found = await walkDirectory(walk, childOf(here, name), depth + 1);
      if (found === "over" || found === "stopped") return found;
      if (found === "deep") outcome = "deep";
    }
    return outcome;
  } finally {
    await handle.close();
  }
}

/** Undefined for what is no directory any more, or may not be read. */
function openDirectory(path: Buffer): Promise<FileHandle | undefined> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  // oxlint-disable-next-line no-bitwise -- flags of open(2)
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined);
}

/** A path that leads through the open directory itself (proc(5)); without /proc, the path that it had. */
function reachable(handle: FileHandle, path: Buffer): Buffer {
  return process.platform === "linux" ? Buffer.from(`/proc/self/fd/${handle.fd}`) : path;
}

function childOf(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from("/"), name]);
}

/** Adds the entries of one directory; returns the names of the directories among them, or why the walk ends. */
async function countEntries(walk: Walk, here: Buffer): Promise<Buffer[] | "over" | "stopped"> {
  const below: Buffer[] = [];
  // Latin-1 gives every byte a character, so names come back as the bytes they are.
  const directory = await opendir(here, { encoding: "latin1", bufferSize: BATCH }).catch(
    () => undefined,
  );
  if (directory === undefined) return below;
  let batch: Buffer[] = [];
  try {
    for await (const entry of directory) {
      batch.push(Buffer.from(entry.name, "latin1"));
      if (batch.length < BATCH) continue;
      const ended = await countBatch(walk, { here, names: batch, below });
      if (ended !== undefined) return ended;
      batch = [];
    }
  } catch {
    // A directory that was removed, or a disk that cannot read it: what was seen of it counts.
  }
  return (await countBatch(walk, { here, names: batch, below })) ?? below;
}

async function countBatch(
  walk: Walk,
  at: { readonly here: Buffer; readonly names: readonly Buffer[]; readonly below: Buffer[] },
): Promise<"over" | "stopped" | undefined> {
  const { here, names, below } = at;
  for (const name of names) {
    const stat = statOf(childOf(here, name));
    if (stat === undefined) continue;
    walk.entries += 1;
    if (stat.isDirectory()) below.push(name);
    else if (stat.nlink > 1) {
      if (walk.linked.has(stat.ino)) continue;
      walk.linked.add(stat.ino);
    }
    walk.bytes += stat.blocks * BLOCK_BYTES;
  }
  if (walk.bytes > walk.limit.bytes || walk.entries > walk.limit.entries) return "over";
  if (walk.pace === "gently" && performance.now() > walk.restAt) await rest(walk);
  return walk.signal.aborted ? "stopped" : undefined;
}

/** A batch of these takes less than handing it to other threads and back does. */
function statOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

async function rest(walk: Walk): Promise<void> {
  await delay(REST_MS, undefined, { signal: walk.signal }).catch(() => undefined);
  walk.restAt = performance.now() + WORK_MS;
}
