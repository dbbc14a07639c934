import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { commandLine } from "./command-line.ts";
import type { StatusRow } from "./status.ts";

/**
 * A sentence for each worktree on disk that treehouse's state does not know. A `get` that was killed on 2.x leaves
 * one, and then every later `get` can fail on it.
 *
 * Look at the disk before asking for the status: `status` waits for a `get` that is under way, so what it does not
 * know then is wedged and not merely unfinished.
 */
export function wedgeSentences(
  onDisk: readonly string[],
  known: readonly StatusRow[],
): readonly string[] {
  const paths = new Set(known.map((row) => row.path));
  return onDisk
    .filter((path) => !paths.has(path))
    .map(
      (path) =>
        `treehouse does not know the worktree ${path}, which a killed call left; in your repository run: ${commandLine(["git", "worktree", "remove", "--force", path])}`,
    );
}

/** Paths of the form `<root>/.treehouse/<pool>/<slot>/<worktree>`. */
export async function worktreesOnDisk(root: string): Promise<readonly string[]> {
  let level: readonly string[] = [join(root, ".treehouse")];
  for (let depth = 0; depth < 3; depth += 1) {
    const below = await Promise.all(level.map(directoriesIn));
    level = below.flat();
  }
  return level;
}

async function directoriesIn(path: string): Promise<readonly string[]> {
  const entries: readonly Dirent[] = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((each) => each.isDirectory()).map((each) => join(path, each.name));
}
