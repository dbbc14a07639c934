import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Stage } from "./rig.ts";

export interface CountedGit {
  /** For the guest: its Git is one that writes down how it was started. */
  readonly env: Readonly<Record<string, string>>;
  /** The subcommands that the guest started, sorted; the agent's own calls are not among them. */
  readonly starts: () => readonly string[];
}

export function countedGit(stage: Stage): CountedGit {
  const bin = mkdtempSync(join(stage.directory, "bin-"));
  const record = join(bin, "record");
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh
[ -z "$GIT_DIR" ] || for word; do case $word in -c | *=*) ;; *) echo "$word" >>'${record}'; break ;; esac; done
exec ${real} "$@"
`,
  );
  chmodSync(join(bin, "git"), 0o755);
  return {
    env: { PATH: `${bin}:${process.env.PATH}` },
    starts: () =>
      existsSync(record) ? readFileSync(record, "utf8").trim().split("\n").toSorted() : [],
  };
}
