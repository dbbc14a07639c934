import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { asListed, pathBytes } from "./nul-separated.ts";

/**
 * Paths that are never swept into a commit: overlay files, directories with everything below them, and directories that
 * hold a repository's data. The
 * patterns only save work. A .gitignore of the agent's outranks them, so whoever sweeps looks at the result too.
 */
export interface Exclude {
  readonly has: (listedPath: string) => boolean;
  /** Whether something excluded lies below this directory, given without a slash at its end. */
  readonly hasBelow: (listedDirectory: string) => boolean;
  readonly isEmpty: () => boolean;
  /** Adds one more path and brings the pattern file up to date. */
  readonly add: (listedPath: string) => void;
}

/** @param overlayPaths relative to the workspace, UTF-8; a slash at the end stands for everything below. */
export function makeExclude(gitDir: string, overlayPaths: readonly string[]): Exclude {
  const listed = overlayPaths.map(asListed);
  const trees = new Set(listed.filter((path) => path.endsWith("/")).map(withoutSlash));
  const paths = new Set(listed.map(withoutSlash));
  const above = new Set([...paths].flatMap(directoriesAbove));
  const write = (): void => {
    const lines = [...paths].map(anchoredPattern).filter((line) => line !== undefined);
    writeFileSync(join(gitDir, "info", "exclude"), pathBytes(lines.join("")));
  };
  write();
  return {
    has: (path) =>
      paths.has(path) || (trees.size > 0 && directoriesAbove(path).some((one) => trees.has(one))),
    hasBelow: (directory) => above.has(directory),
    isEmpty: () => paths.size === 0,
    add(path) {
      paths.add(path);
      for (const directory of directoriesAbove(path)) above.add(directory);
      write();
    },
  };
}

/** A gitignore(5) line that matches this path only; undefined for a path that the format cannot say. */
export function anchoredPattern(path: string): string | undefined {
  if (/[\n\r]/.test(path)) return undefined;
  const escaped = path
    .replaceAll(/[\\*?[\]]/g, "\\$&")
    .replace(/ +$/, (blanks) => blanks.replaceAll(" ", "\\ "));
  return `/${escaped}\n`;
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, "");
}

function directoriesAbove(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
