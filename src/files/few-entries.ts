import { type Dir, lstatSync, opendirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";

/**
 * Whether these trees have no more entries together than `most`; looks at no more than that, however many there are.
 * Follows no link. What cannot be read, or has a name that is not UTF-8, may hold any number. A path that is not there, or
 * is no directory, holds none.
 */
export function holdAtMost(paths: readonly string[], most: number): boolean {
  let entries = 0;
  const waiting = paths.filter(isDirectory);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const names = entriesOf(path, most - entries);
    if (names === undefined) return false;
    entries += names.entries;
    waiting.push(...names.directories.map((name) => join(path, name)));
  }
  return true;
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Undefined where there are more than `most`, or nobody can tell. */
function entriesOf(path: string, most: number) {
  try {
    const directory = opendirSync(path);
    try {
      return readAtMost(directory, most);
    } finally {
      directory.closeSync();
    }
  } catch (error) {
    if (errnoOf(error) === "unknown") throw error;
    return undefined;
  }
}

function readAtMost(directory: Dir, most: number) {
  const directories: string[] = [];
  let entries = 0;
  for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
    if (++entries > most) return undefined;
    if (entry.isDirectory()) directories.push(entry.name);
  }
  return { entries, directories };
}
