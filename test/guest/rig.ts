import { type SpawnOptions, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";
import type { GuestJob, Manifest } from "../../src/core/artifacts.ts";

/** A repository as the user has it: files by path, as text or bytes; a value of `{ link }` is a symbolic link. */
export type Files = Readonly<Record<string, string | Buffer>>;

export const AUTHOR = { name: "Agent Smith", email: "agent@example.com" };

let root = "";
let bundle = "";

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "guest-test-"));
  // Other users may pass through: some tests run the guest as somebody who is not root.
  chmodSync(root, 0o755);
  bundle = join(root, "guest.cjs");
  await build({
    entryPoints: ["src/guest/main.ts"],
    outfile: bundle,
    bundle: true,
    platform: "node",
    target: "node18",
    format: "cjs",
    logLevel: "error",
  });
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const GIT_ENV = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "User",
  GIT_AUTHOR_EMAIL: "user@example.com",
  GIT_AUTHOR_DATE: "1700000000 +0100",
  GIT_COMMITTER_NAME: "User",
  GIT_COMMITTER_EMAIL: "user@example.com",
  GIT_COMMITTER_DATE: "1700000000 +0100",
};

export function git(
  cwd: string,
  args: readonly string[],
  input?: string | Buffer,
  env: Readonly<Record<string, string>> = {},
): string {
  return gitBytes(cwd, args, input, env).toString("utf8").trimEnd();
}

export function gitBytes(
  cwd: string,
  args: readonly string[],
  input?: string | Buffer,
  env: Readonly<Record<string, string>> = {},
): Buffer {
  return execFileSync("git", args, {
    cwd,
    env: { ...GIT_ENV, ...env },
    input: input ?? "",
    stdio: ["pipe", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  });
}

export function put(directory: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

/** Everything around one run of the guest, laid out as the host does it. */
export interface Stage {
  readonly directory: string;
  readonly workspace: string;
  readonly artifacts: string;
  readonly home: string;
  readonly base: string;
  readonly job: GuestJob;
  /** The user's repository, which no container ever sees. */
  readonly user: string;
  /** For tests that make many; at the end everything is removed anyway. */
  readonly [Symbol.dispose]: () => void;
}

export interface StageOptions {
  readonly files?: Files;
  /** More to do in the user's repository before the base is committed. */
  readonly prepare?: (user: string) => void;
  readonly overlay?: Files;
  /** `past`: the snapshot's files are older than its index, as when an agent starts a while after the snapshot. */
  readonly fileTimes?: "now" | "past";
}

/** Makes a user's repository with one commit, and a snapshot of it. */
export function makeStage(options: StageOptions = {}): Stage {
  const directory = mkdtempSync(join(root, "stage-"));
  chmodSync(directory, 0o755);
  const at = (name: string): string => {
    mkdirSync(join(directory, name));
    return join(directory, name);
  };
  const user = at("user");
  git(user, ["init", "-q", "-b", "main"]);
  put(user, options.files ?? { "README.md": "# Sample\n", "src/a.txt": "one\ntwo\nthree\n" });
  options.prepare?.(user);
  git(user, ["add", "-A"]);
  git(user, ["commit", "-q", "-m", "Base"]);
  const base = git(user, ["rev-parse", "HEAD"]);
  const paths = {
    workspace: at("workspace"),
    artifacts: at("artifacts"),
    prompt: join(directory, "prompt.md"),
    baseStore: at("base.git"),
    baseIndex: join(directory, "base.index"),
  };
  writeFileSync(paths.prompt, "Do one task.\n");
  snapshot({ user, base, paths }, options.fileTimes ?? "now");
  put(paths.workspace, options.overlay ?? {});
  const job: GuestJob = {
    version: 1,
    runId: "261129-164712-k3f9q",
    mode: "run",
    isolation: "none",
    base,
    agent: { argv: ["true"], env: {}, homeFiles: {} },
    author: AUTHOR,
    overlayPaths: Object.keys(options.overlay ?? {}),
    paths,
  };
  const home = at("home");
  at("tmp");
  const dispose = (): void => rmSync(directory, { recursive: true, force: true });
  return { directory, ...paths, home, base, job, user, [Symbol.dispose]: dispose };
}

function snapshot(
  from: { readonly user: string; readonly base: string; readonly paths: GuestJob["paths"] },
  fileTimes: "now" | "past",
): void {
  const { workspace, baseStore, baseIndex } = from.paths;
  git(baseStore, ["init", "-q", "--bare", "--template=", "."]);
  const pack = gitBytes(from.user, ["pack-objects", "-q", "--revs", "--stdout"], `${from.base}\n`);
  git(baseStore, ["--git-dir=.", "index-pack", "--stdin"], pack);
  git(workspace, ["init", "-q", "-b", "main", "--template="]);
  mkdirSync(join(workspace, ".git/objects/info"), { recursive: true });
  writeFileSync(join(workspace, ".git/objects/info/alternates"), `${baseStore}/objects\n`);
  git(workspace, ["update-ref", "refs/heads/main", from.base]);
  git(workspace, ["read-tree", from.base]);
  git(workspace, ["checkout-index", "-a", "-u"]);
  if (fileTimes === "past") {
    for (const path of filesBelow(workspace)) lutimesSync(path, LONG_AGO, LONG_AGO);
    git(workspace, ["update-index", "-q", "--refresh"]);
  }
  cpSync(join(workspace, ".git/index"), baseIndex, { preserveTimestamps: true });
}

/** In seconds; later times are free for a test to give away. */
export const LONG_AGO = 1_600_000_000;

/** Everything in a work tree but directories and its `.git`. */
function filesBelow(directory: string): readonly Buffer[] {
  return readdirSync(directory, { withFileTypes: true, encoding: "buffer" }).flatMap((entry) => {
    const path = Buffer.concat([Buffer.from(`${directory}/`), entry.name]);
    if (!entry.isDirectory()) return [path];
    return entry.name.toString() === ".git" ? [] : filesBelow(path.toString());
  });
}

export interface RunOptions {
  /** A shell script that plays the agent. */
  readonly agent?: string;
  readonly job?: Partial<GuestJob>;
  readonly env?: Readonly<Record<string, string>>;
  readonly as?: Pick<SpawnOptions, "uid" | "gid">;
  /** Called with the guest's output so far and its pid. */
  readonly onOutput?: (text: string, pid: number) => void;
  /** What starts the guest; by default node itself. */
  readonly launcher?: readonly string[];
}

export interface GuestRun {
  readonly code: number | null;
  readonly output: string;
  readonly stdout: string;
  readonly manifest: Manifest | undefined;
}

const ARTIFACTS = `
printf 'T-1\\n' > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
printf 'Do the task\\n\\nAs asked.\\n' > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;

/** Runs the bundled guest with a scripted agent that also leaves the required text artifacts. */
export async function runGuest(stage: Stage, options: RunOptions = {}): Promise<GuestRun> {
  const argv = ["sh", "-e", "-c", `${ARTIFACTS}\n${options.agent ?? ""}`];
  const job = { ...stage.job, agent: { ...stage.job.agent, argv }, ...options.job };
  const jobPath = join(stage.directory, "job.json");
  writeFileSync(jobPath, JSON.stringify(job));
  const [program, ...args] = [...(options.launcher ?? []), process.execPath, bundle, jobPath];
  const child = spawn(program, args, {
    cwd: stage.directory,
    env: {
      PATH: process.env.PATH,
      HOME: stage.home,
      TMPDIR: join(stage.directory, "tmp"),
      GUARDLOOP_ARTIFACTS: stage.artifacts,
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    ...options.as,
  });
  let output = "";
  let stdout = "";
  const take = (chunk: Buffer): void => {
    output += chunk.toString("utf8");
    options.onOutput?.(output, child.pid ?? 0);
  };
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
    take(chunk);
  });
  child.stderr.on("data", take);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, output, stdout, manifest: readManifest(stage) };
}

function readManifest(stage: Stage): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(stage.artifacts, "manifest.json"), "utf8"));
  } catch {
    return undefined;
  }
}
