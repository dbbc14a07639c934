import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

export interface ChangedFiles {
  readonly files: number;
  /** `some`: the tree has more entries than were looked at, so there may be more. */
  readonly looked: "all" | "some";
}

/**
 * Counts files in a tree that something else may be writing to right now, by the time of their last change (ctime,
 * which no program can set). Reads no content, follows no link, leaves out `.git` at the top, and looks at no more than
 * `limit` entries. What vanishes meanwhile does not count.
 */
export async function countChangedSince(
  root: string,
  sinceMs: number,
  limit: number,
): Promise<ChangedFiles> {
  let files = 0;
  let entries = 0;
  const waiting = [root];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const directory = await opendir(path).catch(() => undefined);
    if (directory === undefined) continue;
    for await (const entry of directory) {
      if (path === root && entry.name === ".git") continue;
      if (++entries > limit) return { files, looked: "some" };
      const child = join(path, entry.name);
      if (entry.isDirectory()) waiting.push(child);
      else if (((await lstat(child).catch(() => undefined))?.ctimeMs ?? 0) > sinceMs) files += 1;
    }
  }
  return { files, looked: "all" };
}
