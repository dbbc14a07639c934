import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { HostEnvironment } from "../../src/core/environment.ts";
import { type Git, userGit } from "../../src/git/git.ts";
import { findProgram } from "../../src/process/find-program.ts";

/** Two sample repositories have the same commits, like two clones of one origin. */
const FIXED_DATES = {
  GIT_AUTHOR_DATE: "2026-01-02T03:04:05Z",
  GIT_COMMITTER_DATE: "2026-01-02T03:04:05Z",
};

/** A principal checkout with two commits and an ignore rule for `*.log`, in a home of its own. */
export interface SampleRepository {
  /** Temporary directory that holds everything; removed after the test. */
  readonly home: string;
  readonly topLevel: string;
  readonly commonDir: string;
  /** Directory that comes first on PATH. */
  readonly bin: string;
  readonly env: HostEnvironment;
  readonly git: Git;
  readonly firstCommit: string;
  /** Runs git as a user would, in the principal checkout unless told otherwise. */
  readonly run: (args: readonly string[], cwd?: string) => string;
  /** Writes to the user's own Git configuration. */
  readonly configureUser: (key: string, value: string) => void;
  readonly write: (name: string, content: string) => void;
  readonly commit: (message: string) => string;
  readonly head: () => string;
}

export function sampleRepository(): SampleRepository {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "guardloop-lease-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  const topLevel = join(home, "work", "shop");
  const bin = join(home, "bin");
  mkdirSync(topLevel, { recursive: true });
  mkdirSync(bin);
  const globalConfig = join(home, "gitconfig");
  writeFileSync(globalConfig, "[user]\n\tname = Sample\n\temail = sample@example.invalid\n");
  const env = hostEnvironment(home, { bin, globalConfig });
  const run: SampleRepository["run"] = (args, cwd = topLevel) =>
    execFileSync("git", args, {
      cwd,
      env: { PATH: env.path, HOME: home, ...env.git, ...FIXED_DATES, GIT_CONFIG_NOSYSTEM: "1" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trimEnd();
  const write = (name: string, content: string): void => {
    mkdirSync(dirname(join(topLevel, name)), { recursive: true });
    writeFileSync(join(topLevel, name), content);
  };
  const commit = (message: string): string => {
    run(["add", "--all"]);
    run(["commit", "--quiet", "--message", message]);
    return run(["rev-parse", "HEAD"]);
  };
  run(["init", "--quiet", "--initial-branch", "main"]);
  write(".gitignore", "*.log\n");
  write("README.md", "one\n");
  const firstCommit = commit("first");
  write("README.md", "two\n");
  write("src/code.txt", "code\n");
  commit("second");
  return {
    home,
    topLevel,
    bin,
    env,
    firstCommit,
    run,
    write,
    commit,
    commonDir: join(topLevel, ".git"),
    git: userGit(findProgram("git", env.path) ?? "git", env, topLevel),
    configureUser: (key, value) => void run(["config", "--global", key, value]),
    head: () => run(["rev-parse", "HEAD"]),
  };
}

function hostEnvironment(
  home: string,
  places: { readonly bin: string; readonly globalConfig: string },
): HostEnvironment {
  return {
    path: `${places.bin}:${process.env.PATH ?? ""}`,
    home,
    stateDir: join(home, "state"),
    configDir: join(home, "config"),
    hostname: hostname(),
    noColor: true,
    user: "sample",
    docker: {},
    pager: {},
    terminal: {},
    desktop: {},
    runtimeDir: undefined,
    tempDir: "/tmp",
    proxy: { httpsProxy: undefined, httpProxy: undefined, noProxy: "", caFiles: [] },
    podman: {},
    guard: {},
    git: { GIT_CONFIG_GLOBAL: places.globalConfig },
    read: () => undefined,
  };
}
