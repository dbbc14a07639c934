import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "./world.ts";

/** Ends the process that started this git, in a way that nothing can catch: guardloop itself. */
export const KILL_GUARDLOOP = "kill -9 $PPID";

/**
 * Puts a git on the world's PATH that does something of its own when it is called with these words, and is the real
 * one otherwise. For crash points and races without a clock.
 *
 * @param words in this order, next to each other, somewhere in the arguments, for example `merge --ff-only`.
 * @param script lines of shell; `REAL` is the real git in the principal checkout.
 */
export function whenGitRuns(world: World, words: string, script: readonly string[]): void {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const lines = script.map((line) => line.replaceAll("REAL", real)).join("\n");
  const wrapper = `#!/bin/sh
case " $* " in *" ${words} "*)
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com
${lines}
;; esac
exec ${real} "$@"
`;
  writeFileSync(join(world.bin, "git"), wrapper);
  chmodSync(join(world.bin, "git"), 0o755);
}
