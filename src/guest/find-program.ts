import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";

/**
 * Finds a program on PATH, absolute directories only. Done before the agent starts: afterwards a directory of
 * PATH may hold a program of the agent's making.
 */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const directory of path.split(":").filter((entry) => isAbsolute(entry))) {
    const candidate = join(directory, name);
    try {
      await access(candidate, constants.X_OK);
      if ((await stat(candidate)).isFile()) return await realpath(candidate);
    } catch {
      // Not in this directory: the next one.
    }
  }
  return undefined;
}
