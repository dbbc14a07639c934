import { devNull } from "node:os";
import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { Environment, Exit } from "../process/command.ts";
import { run } from "../process/spawn.ts";

export interface GitOptions {
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array;
  readonly deadlineMs?: number;
  readonly maxOutputBytes?: number;
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  /** A private index instead of the repository's own. */
  readonly indexFile?: string;
  readonly workTree?: string;
  /** Author and committer of `commit-tree`; nothing else is to be passed here. */
  readonly identity?: Environment;
}

/** Runs git. A non-zero exit is data; an exception means that git could not be started at all. */
export interface Git {
  readonly exec: (args: readonly string[], options?: GitOptions) => Promise<Exit>;
}

/** Settings that hold for every call: nothing in the repository may start a program of its own choice. */
const ALWAYS = [
  "--no-pager",
  ...setting("core.hooksPath", devNull),
  ...setting("core.fsmonitor", "false"),
  ...setting("gc.auto", "0"),
  ...setting("maintenance.auto", "false"),
  ...setting("submodule.recurse", "false"),
  ...setting("fetch.recurseSubmodules", "false"),
  ...setting("protocol.ext.allow", "never"),
  ...setting("advice.detachedHead", "false"),
  ...setting("core.quotePath", "true"),
];

/** The quarantine and other repositories of our own: bare of everybody's configuration. */
const SEALED = [
  ...setting("core.attributesFile", devNull),
  ...setting("core.excludesFile", devNull),
  ...setting("core.protectHFS", "true"),
  ...setting("core.protectNTFS", "true"),
  ...setting("core.autocrlf", "false"),
  ...setting("safe.bareRepository", "explicit"),
  ...setting("commit.gpgSign", "false"),
];

function setting(key: string, value: string): readonly string[] {
  return ["-c", `${key}=${value}`];
}

/** Variables that hold for both profiles. All other GIT_* variables of the caller are gone. */
function commonEnvironment(env: HostEnvironment): Environment {
  return {
    PATH: env.path,
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    GIT_EDITOR: "false",
    GIT_PAGER: "cat",
    // A partial clone's promisor names a program to run: never fetch behind our back.
    GIT_NO_LAZY_FETCH: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

/**
 * Git in the user's own repository: the user's configuration counts (ignore rules, line endings, LFS,
 * safe.directory), hooks and fsmonitor are off.
 *
 * @param program absolute path of git, from `findProgram`.
 */
export function userGit(program: string, env: HostEnvironment, cwd: string): Git {
  const environment = { ...commonEnvironment(env), HOME: env.home, ...env.git };
  return bind(program, { prefix: ALWAYS, environment, cwd });
}

/**
 * Git in a repository that guardloop made itself, named by its Git directory. Reads no configuration but that
 * repository's own.
 */
export function sealedGit(program: string, env: HostEnvironment, gitDir: string): Git {
  const environment = {
    ...commonEnvironment(env),
    HOME: gitDir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_ALLOW_PROTOCOL: "file",
  };
  return bind(program, {
    prefix: [...ALWAYS, ...SEALED, `--git-dir=${gitDir}`],
    environment,
    cwd: gitDir,
  });
}

interface Profile {
  readonly prefix: readonly string[];
  readonly environment: Environment;
  readonly cwd: string;
}

function bind(program: string, profile: Profile): Git {
  return {
    async exec(args, options = {}): Promise<Exit> {
      const result = await run({
        argv: [program, ...profile.prefix, ...args],
        cwd: options.cwd ?? profile.cwd,
        env: {
          ...profile.environment,
          ...options.identity,
          ...(options.indexFile === undefined ? {} : { GIT_INDEX_FILE: options.indexFile }),
          ...(options.workTree === undefined ? {} : { GIT_WORK_TREE: options.workTree }),
        },
        deadlineMs: options.deadlineMs ?? DEADLINES.gitQuickMs,
        ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
        ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
        ...(options.onOutput === undefined ? {} : { onOutput: options.onOutput }),
      });
      if (!result.ok) throw new Error(`git could not be started: ${result.error.reason}`);
      return result.value;
    },
  };
}

/**
 * Runs git where only exit status 0 is expected.
 *
 * @returns standard output, or a `git-failed` failure with git's own first line of complaint.
 */
export async function gitOutput(
  git: Git,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Result<Buffer, Failure>> {
  const exit = await git.exec(args, options);
  if (exit.code === 0 && exit.ended === "by-itself" && !exit.truncated) return ok(exit.stdout);
  return err(gitFailure(args, exit));
}

/** Like `gitOutput`, decoded and without the last line feed. */
export async function gitText(
  git: Git,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Result<string, Failure>> {
  const output = await gitOutput(git, args, options);
  return output.ok ? ok(output.value.toString("utf8").replace(/\n$/, "")) : output;
}

/** Puts a failed call into one sentence: the subcommand, why, and what git said. */
export function gitFailure(args: readonly string[], exit: Exit): Failure {
  const said = exit.stderr.toString("utf8").trim().split("\n").slice(0, 12);
  const how =
    exit.ended === "deadline"
      ? "did not end in time"
      : exit.truncated
        ? "printed more than expected"
        : `ended with ${exit.signal ?? `status ${exit.code}`}`;
  return failure("git-failed", `git ${args[0] ?? ""} ${how}: ${said[0] ?? ""}`, { details: said });
}
