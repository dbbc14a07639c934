import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface CountingGit {
  /** A PATH on which its Git is the first. */
  readonly path: string;
  /** What was written down so far, in the order of the starts. */
  readonly starts: () => readonly string[];
}

/**
 * A Git that does what the real one does, and writes down how it was started.
 *
 * @param count shell that calls `note WORD` for what is to be counted; it is given Git's arguments.
 */
export function countingGit(directory: string, count: string): CountingGit {
  const bin = mkdtempSync(join(directory, "bin-"));
  const record = join(bin, "record");
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const script = `#!/bin/sh\nnote() { echo "$1" >>'${record}'; }\n${count}\nexec ${real} "$@"\n`;
  writeFileSync(join(bin, "git"), script);
  chmodSync(join(bin, "git"), 0o755);
  return {
    path: `${bin}:${process.env.PATH ?? ""}`,
    starts: () => (existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : []),
  };
}
