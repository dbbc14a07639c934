import { lstatSync } from "node:fs";
import { join } from "node:path";

/** A work tree as its container will see it: a writable directory, and what lies under it. */
export interface WorkTree {
  /** Absolute path of the directory that is written to. */
  readonly top: string;
  /** Read-only layers under it, uppermost first; none where `top` has all files. */
  readonly under: readonly string[];
}

/**
 * What the container will see at a place: the first layer that has something there decides. Links are not followed, nor is
 * anything looked for below one, or below a file.
 *
 * @param path relative, with slashes; the directories above it were looked at before.
 */
export function seenAt({ top, under }: WorkTree, path: string): "nothing" | "directory" | "other" {
  for (const layer of [top, ...under]) {
    const stat = lstatSync(join(layer, path), { throwIfNoEntry: false });
    if (stat !== undefined) return stat.isDirectory() ? "directory" : "other";
  }
  return "nothing";
}
