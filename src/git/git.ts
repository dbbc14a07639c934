import { devNull } from "node:os";
import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, err, ok } from "../core/result.ts";
import { once } from "../core/once.ts";
import type { Bounds, Environment, Exit } from "../process/command.ts";
import { run } from "../process/spawn.ts";
import { PACK_WINDOWS, boundHit } from "./bounds.ts";
import {
  type ConfigPair,
  HOOKS_OFF,
  askTellingKeys,
  configEnvironment,
  namedHooksOff,
  withConfig,
} from "./no-hooks.ts";

export interface GitOptions {
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array;
  readonly deadlineMs?: number;
  readonly maxOutputBytes?: number;
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  /** A private index instead of the repository's own. */
  readonly indexFile?: string;
  readonly workTree?: string;
  /** One setting for this call, whatever characters its key has. */
  readonly config?: ConfigPair;
  /** Author and committer of `commit-tree`; nothing else is to be passed here. */
  readonly identity?: Environment;
  /** Object directories, absolute: new objects go into the first, and those of the second are there to be read. */
  readonly objects?: { readonly into: string; readonly from: string };
  /** `take`: what only makes the next call faster may be written, too; see GIT_OPTIONAL_LOCKS in git(1). */
  readonly optionalLocks?: "take";
  /** A program that gets Git's own argv behind these arguments, and starts Git itself: a constant script of a shell. */
  readonly through?: readonly [string, ...string[]];
  /** Git is started only while there is this file; see `Command`. */
  readonly onlyWhile?: string;
  /** Limits on what the child may use; see `withBounds`. */
  readonly bounds?: Bounds;
  /** Aborting ends the child, for a reader that has seen enough. */
  readonly signal?: AbortSignal;
}

/** Runs git. A non-zero exit is data; an exception means that git could not be started at all. */
export interface Git {
  readonly exec: (args: readonly string[], options?: GitOptions) => Promise<Exit>;
}

/** Settings that hold for every call: nothing in the repository may start a program of its own choice. */
const ALWAYS = [
  "--no-pager",
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
    ...configEnvironment(HOOKS_OFF),
  };
}

/** Git in the user's own repository. */
export interface UserGit extends Git {
  /** What the configuration has among the settings that `askTellingKeys` looks for; asked once. */
  readonly tellingKeys: () => Promise<readonly string[]>;
  /** The same in another directory of the same work tree, without asking again. */
  readonly within: (cwd: string) => UserGit;
}

/**
 * Subcommands that only read, and that githooks(5) names with no hook: they need not wait until it is known which hooks
 * a configuration defines.
 */
const HOOKLESS: ReadonlySet<string> = new Set([
  "cat-file",
  "for-each-ref",
  "ls-files",
  "ls-tree",
  "rev-parse",
  "show-ref",
]);

/**
 * Git in the user's own repository: the user's configuration counts (ignore rules, line endings, LFS,
 * safe.directory), hooks and fsmonitor are off.
 *
 * @param program absolute path of git, from `findProgram`.
 */
export function userGit(program: string, env: HostEnvironment, cwd: string): UserGit {
  const environment = { ...commonEnvironment(env), HOME: env.home, ...env.git };
  const profile = { prefix: ALWAYS, environment, cwd };
  const tellingKeys = once(() => askTellingKeys(bind(program, profile)));
  return withKeys(program, profile, tellingKeys);
}

function withKeys(program: string, profile: Profile, tellingKeys: UserGit["tellingKeys"]): UserGit {
  const reading = bind(program, profile);
  const quiet = once(async () => {
    const config = configEnvironment([...HOOKS_OFF, ...namedHooksOff(await tellingKeys())]);
    return bind(program, { ...profile, environment: { ...profile.environment, ...config } });
  });
  return {
    tellingKeys,
    within: (cwd) => withKeys(program, { ...profile, cwd }, tellingKeys),
    async exec(args, options): Promise<Exit> {
      const git = HOOKLESS.has(args[0] ?? "") ? reading : await quiet();
      return git.exec(args, options);
    },
  };
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

/** A quoted path may hold the character that separates paths; see GIT_ALTERNATE_OBJECT_DIRECTORIES in git(1). */
function objectDirectories({ into, from }: NonNullable<GitOptions["objects"]>): Environment {
  return {
    GIT_OBJECT_DIRECTORY: into,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${from.replaceAll(/["\\]/g, String.raw`\$&`)}"`,
  };
}

function startOf(program: string, through: GitOptions["through"]): readonly [string, ...string[]] {
  return through === undefined ? [program] : [...through, program];
}

function bind(program: string, profile: Profile): Git {
  return {
    async exec(args, options = {}): Promise<Exit> {
      const { cwd, config, indexFile, workTree, identity, objects, ...others } = options;
      const { deadlineMs, optionalLocks, through, ...rest } = others;
      const { environment } = profile;
      const bounded = options.bounds === undefined ? [] : PACK_WINDOWS;
      const result = await run({
        argv: [...startOf(program, through), ...profile.prefix, ...bounded, ...args],
        cwd: cwd ?? profile.cwd,
        env: {
          ...(config === undefined ? environment : withConfig(environment, config)),
          ...identity,
          ...(objects === undefined ? {} : objectDirectories(objects)),
          ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }),
          ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
          ...(optionalLocks === undefined ? {} : { GIT_OPTIONAL_LOCKS: "1" }),
        },
        deadlineMs: deadlineMs ?? DEADLINES.gitQuickMs,
        ...rest,
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

/**
 * Puts a failed call into one sentence: the subcommand, why, and what git said. Only what came out of a container is
 * worked on within bounds, so a bound that was hit is `import-refused`.
 */
export function gitFailure(args: readonly string[], exit: Exit): Failure {
  const said = exit.stderr.toString("utf8").trim().split("\n").slice(0, 12);
  const hit = boundHit(exit);
  if (hit !== undefined)
    return failure("import-refused", `git ${args[0] ?? ""} needed more than ${hit}.`, {
      details: said,
    });
  const how =
    exit.ended === "deadline"
      ? "did not end in time"
      : exit.truncated
        ? "printed more than expected"
        : `ended with ${exit.signal ?? `status ${exit.code}`}`;
  return failure("git-failed", `git ${args[0] ?? ""} ${how}: ${said[0] ?? ""}`, { details: said });
}
