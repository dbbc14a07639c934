import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/**
 * Finds a program on PATH, absolute directories only. Done before the agent starts: afterwards a directory of
 * PATH may hold a program of the agent's making.
 */
export function findProgram(name: string, path: string): string | undefined {
  for (const directory of path.split(":").filter((entry) => isAbsolute(entry))) {
    const candidate = join(directory, name);
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return realpathSync(candidate);
    } catch {
      // Not in this directory: the next one.
    }
  }
  return undefined;
}
