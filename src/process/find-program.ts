import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * Looks a program up on PATH. Relative entries (`.`, `node_modules/.bin`, an empty entry) are skipped: they would
 * let a repository plant a `git` or `docker` that then runs on the host.
 *
 * @returns the absolute path, or undefined when no entry holds an executable file of that name.
 */
export function findProgram(name: string, path: string): string | undefined {
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const candidate = join(directory, name);
    if (isExecutableFile(candidate)) return candidate;
  }
  return undefined;
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
