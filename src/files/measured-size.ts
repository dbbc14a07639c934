import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

export interface MeasuredSize {
  readonly bytes: number;
  /** `at-least`: there were more entries than the limit, and the rest was not looked at. */
  readonly extent: "whole" | "at-least";
}

/**
 * The space that a file or a tree takes on the disk, following no link and looking at no more than `limit` entries.
 * What vanishes meanwhile counts as nothing.
 */
export async function measureSize(root: string, limit: number): Promise<MeasuredSize> {
  let bytes = await allocatedBytes(root);
  let entries = 0;
  const waiting = [root];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const directory = await openDirectory(path);
    if (directory === undefined) continue;
    for await (const entry of directory) {
      if (++entries > limit) return { bytes, extent: "at-least" };
      const child = join(path, entry.name);
      bytes += await allocatedBytes(child);
      if (entry.isDirectory()) waiting.push(child);
    }
  }
  return { bytes, extent: "whole" };
}

/** Undefined for what is not a directory itself: a link to one is not followed. */
async function openDirectory(path: string) {
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isDirectory() !== true) return undefined;
  return opendir(path).catch(() => undefined);
}

async function allocatedBytes(path: string): Promise<number> {
  const stat = await lstat(path).catch(() => undefined);
  // Blocks are of 512 bytes whatever the file system says its own are; see stat(2).
  return stat === undefined ? 0 : stat.blocks * 512;
}
