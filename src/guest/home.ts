import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, normalize } from "node:path";
import type { GuestJob } from "../core/artifacts.ts";
import { errnoOf } from "../core/errno.ts";
import { type Result, err, ok } from "../core/result.ts";

const GIT_CONFIG = ".gitconfig";

/**
 * Writes what the agent needs below HOME: its adapter's files, and a Git configuration with the identity, so that
 * `git commit` works without any set-up and the agent may still choose another one. Never overwrites: HOME is an
 * empty tmpfs in the container, and a person's own HOME outside of one must not be changed.
 *
 * @returns one sentence on the first file that could not be written.
 */
export function prepareHome(home: string, job: GuestJob): Result<void, string> {
  const files = new Map(Object.entries(job.agent.homeFiles));
  const own = files.get(GIT_CONFIG) ?? "";
  files.set(GIT_CONFIG, `${gitConfig(job)}${own}`);
  for (const [name, content] of files) {
    if (isAbsolute(name) || normalize(name).split("/").includes(".."))
      return err(`the home file ${name} is not below HOME: correct the agent's adapter.`);
    const path = join(home, name);
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, content, { flag: "wx", mode: 0o600 });
    } catch (error) {
      return err(
        `${path} cannot be written (${errnoOf(error)}): HOME is to be empty and writable.`,
      );
    }
  }
  return ok(undefined);
}

function gitConfig(job: GuestJob): string {
  return [
    "[user]",
    `\tname = ${quoted(job.author.name)}`,
    `\temail = ${quoted(job.author.email)}`,
    "[safe]",
    `\tdirectory = ${quoted(job.paths.workspace)}`,
    "",
  ].join("\n");
}

/** A value of git-config(1): quoted, with backslash, quote and line feed escaped. */
function quoted(value: string): string {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `"${escaped}"`;
}
