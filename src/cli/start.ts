import { lstatSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { hostEnvironment } from "../config/environment.ts";

/** Where the program begins: what is imported from here on may come out of Node's cache of compiled code. */
keepCompiledCode(hostEnvironment().stateDir);
await import("./main.ts");

/**
 * Lets Node keep what it compiles, where it can (22.1 and newer). What lies in such a cache is run: so never in the
 * directory for temporary files, which is Node's choice, but only in a state directory that is there already, that is
 * ours and that nobody else may write to.
 */
function keepCompiledCode(stateDir: string): void {
  // Older ones have no such function.
  const { enableCompileCache }: Partial<CompileCache> = nodeModule as object;
  if (enableCompileCache === undefined) return;
  const stat = lstatSync(stateDir, { throwIfNoEntry: false });
  const isPrivate =
    stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
  // It reports a directory that cannot be written to, and throws nothing.
  if (isPrivate) enableCompileCache(join(stateDir, "compile-cache"));
}

interface CompileCache {
  readonly enableCompileCache: (directory: string) => unknown;
}
