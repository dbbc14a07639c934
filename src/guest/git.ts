import { spawn } from "node:child_process";
import type { Identity } from "../core/artifacts.ts";

/** One call of git; every field is optional. */
export interface GitCall {
  readonly cwd?: string;
  /** Bytes, or a file descriptor open for reading. */
  readonly stdin?: string | Uint8Array | number;
  /**
   * A file descriptor, or a reader that gets the output as it comes, and may end the program by saying that it has enough;
   * without it the output is returned.
   */
  readonly stdout?: number | ((chunk: Buffer) => "enough" | undefined | void);
  readonly maxOutputBytes?: number;
  readonly indexFile?: string;
  readonly workTree?: string;
  /** Author of `commit-tree`. */
  readonly author?: Identity;
  readonly pathspecs?: "literal";
  /** A constant script of a shell, which gets Git's own argv behind these words and starts Git itself. */
  readonly through?: readonly [string, ...string[]];
}

export interface GitEnd {
  readonly code: number;
  readonly stdout: Buffer;
  /** The first 8 KiB of what git complained about. */
  readonly stderr: string;
}

/** Git in one repository of the guest's own. A non-zero status is data. */
export type Git = (args: readonly string[], call?: GitCall) => Promise<GitEnd>;

const DEADLINE_MS = 10 * 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_BYTES = 8 * 1024;

/**
 * Settings for every call: nothing the agent left may start a program, and file names, modes, links and line
 * endings are recorded as they are. What the host's quarantine refuses (protectHFS, protectNTFS) is refused here.
 */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.excludesFile=/dev/null",
  "core.attributesFile=/dev/null",
  "core.protectHFS=true",
  "core.protectNTFS=true",
  "core.fileMode=true",
  "core.symlinks=true",
  "core.ignoreCase=false",
  "core.autocrlf=false",
  "core.safecrlf=false",
  "core.precomposeUnicode=false",
  // The agent's could tell of parents that its commits do not have.
  "core.commitGraph=false",
  "core.sparseCheckout=false",
  "core.quotePath=true",
  "core.fsync=none",
  "gc.auto=0",
  "maintenance.auto=false",
  "i18n.commitEncoding=UTF-8",
  "i18n.logOutputEncoding=UTF-8",
  "mailinfo.quotedCr=nowarn",
  "mailinfo.scissors=false",
].flatMap((setting) => ["-c", setting]);

/** Binds git to a Git directory that the guest made. The environment is built, nothing is inherited. */
export function gitIn(gitDir: string, program: string, path: string): Git {
  const environment = {
    PATH: path,
    HOME: gitDir,
    LC_ALL: "C",
    TZ: "UTC",
    GIT_DIR: gitDir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "file",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_COMMITTER_NAME: "guardloop",
    GIT_COMMITTER_EMAIL: "guardloop@localhost",
  };
  return (args, call = {}) => {
    const [first, ...more] = [...(call.through ?? []), program, ...SETTINGS, ...args];
    return runGit({ argv: [first ?? program, ...more], cwd: gitDir, env: environment }, call);
  };
}

/** Runs git where only status 0 is expected; throws an error that names the subcommand and git's complaint. */
export async function must(git: Git, args: readonly string[], call: GitCall = {}): Promise<Buffer> {
  const end = await git(args, call);
  if (end.code !== 0) throw gitError(args, end);
  return end.stdout;
}

/** Like `must`; the output without the last line feed. */
export async function mustText(
  git: Git,
  args: readonly string[],
  call: GitCall = {},
): Promise<string> {
  return (await must(git, args, call)).toString("utf8").replace(/\n$/, "");
}

/** Constant arguments written in one line. */
export function words(line: string): readonly string[] {
  return line.split(" ");
}

export function gitError(args: readonly string[], end: GitEnd): Error {
  const said = end.stderr.trim().split("\n").slice(0, 2).join(" / ");
  return new Error(`git ${args[0] ?? ""} ended with ${end.code}: ${said}`);
}

interface Start {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

function runGit(start: Start, call: GitCall): Promise<GitEnd> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = start.argv;
    const child = spawn(program, args, {
      cwd: call.cwd ?? start.cwd,
      env: { ...start.env, ...callEnvironment(call) },
      stdio: [
        typeof call.stdin === "number" ? call.stdin : call.stdin === undefined ? "ignore" : "pipe",
        typeof call.stdout === "number" ? call.stdout : "pipe",
        "pipe",
      ],
      timeout: DEADLINE_MS,
      killSignal: "SIGKILL",
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let stdoutBytes = 0;
    let stderrBytes = 0;
    const limit = call.maxOutputBytes ?? MAX_OUTPUT_BYTES;
    child.stdout?.on("data", (chunk: Buffer) => {
      if (typeof call.stdout === "function") {
        if (call.stdout(chunk) === "enough") child.kill("SIGKILL");
        return;
      }
      stdoutBytes += chunk.length;
      if (stdoutBytes > limit) child.kill("SIGKILL");
      else stdout.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (stderrBytes < MAX_STDERR_BYTES) stderr.push(chunk);
      stderrBytes += chunk.length;
    });
    // Git may end without reading everything; its status tells the story.
    child.stdin?.on("error", () => {});
    if (typeof call.stdin !== "number") child.stdin?.end(call.stdin);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const said = Buffer.concat(stderr).toString("utf8");
      resolve({
        code: code ?? 128,
        stdout: Buffer.concat(stdout),
        stderr: signal === null ? said : `${said}ended by ${signal}`,
      });
    });
  });
}

function callEnvironment(call: GitCall): Record<string, string> {
  const author = call.author;
  return {
    ...(call.indexFile === undefined ? {} : { GIT_INDEX_FILE: call.indexFile }),
    ...(call.workTree === undefined ? {} : { GIT_WORK_TREE: call.workTree }),
    ...(call.pathspecs === undefined ? {} : { GIT_LITERAL_PATHSPECS: "1" }),
    ...(author === undefined
      ? {}
      : {
          GIT_AUTHOR_NAME: author.name,
          GIT_AUTHOR_EMAIL: author.email,
          GIT_AUTHOR_DATE: author.date,
        }),
  };
}
