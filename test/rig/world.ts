import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface DockerCall {
  readonly argv: readonly string[];
  readonly env: readonly string[];
}

/** A repository, a state directory and a PATH of their own; everything is removed at the end. */
export interface World {
  readonly root: string;
  readonly repo: string;
  /** guardloop's own state directory. */
  readonly state: string;
  /** First on PATH. */
  readonly bin: string;
  readonly env: Record<string, string>;
  readonly guardloop: (args: readonly string[], options?: CallOptions) => Promise<Ended>;
  /** `run --agent command -- sh -c SCRIPT`, with more flags before. */
  readonly run: (
    script: string,
    flags?: readonly string[],
    options?: CallOptions,
  ) => Promise<Ended>;
  readonly git: (...args: readonly string[]) => string;
  readonly write: (path: string, text: string) => void;
  readonly commit: (message: string) => string;
  readonly faults: (faults: Readonly<Record<string, unknown>>) => void;
  readonly dockerCalls: () => readonly DockerCall[];
  readonly [Symbol.dispose]: () => void;
}

export interface CallOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the process once it runs, for tests that signal it. */
  readonly onStart?: (pid: number) => void;
  readonly onStderr?: (text: string) => void;
  readonly onStdout?: (text: string) => void;
}

/** `runsc` is Docker with gVisor's runtime. */
export type EngineKind = "scripted" | "scripted-podman" | "docker" | "podman" | "runsc";

const SCRIPTED: ReadonlySet<EngineKind> = new Set(["scripted", "scripted-podman"]);

/** What chooses the engine of a world; Docker is what is taken without a word. */
const CHOICE: Readonly<Record<EngineKind, Readonly<Record<string, string>>>> = {
  scripted: {},
  "scripted-podman": { GUARD_ENGINE: "podman" },
  docker: {},
  podman: { GUARD_ENGINE: "podman" },
  runsc: { GUARD_ENGINE: "docker", GUARD_RUNTIME: "runsc" },
};

export const PLAN = `# Plan

## T1 — Add the first file

Status: ready

Completion signal:
- one.txt exists

## T2 — Add the second file

Status: ready

## T3 — Done long ago

Status: done
`;

/** A well-behaved agent as a shell script: does the first ready task, marks it done, leaves the work uncommitted. */
export const GOOD_AGENT = `
id=$(awk '/^## /{id=$2} /^Status: ready/{print id; exit}' docs/TASKS.md)
echo "work on $id" > "$id.txt"
awk -v id="$id" '/^## /{here=($2==id)} here && /^Status: ready/{sub("ready","done")} {print}' docs/TASKS.md > "$TMPDIR/plan.$$"
cat "$TMPDIR/plan.$$" > docs/TASKS.md; rm "$TMPDIR/plan.$$"
printf '%s\\n' "$id" > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
printf 'Do %s\\n\\nBecause the plan says so.\\n' "$id" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;

/** Writes the two required files and nothing else; a script adds what it wants before. */
export const FINISH = `
echo T1 > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
echo "Do T1" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;

export function makeWorld(engine: EngineKind = "scripted"): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "guardloop-test-")));
  const repo = join(root, "shop");
  const bin = join(root, "bin");
  for (const directory of [repo, bin, join(root, "home")]) mkdirSync(directory);
  const program = engine === "scripted-podman" ? "podman" : "docker";
  if (SCRIPTED.has(engine)) {
    // The machine's own engines must never answer in their place.
    for (const name of ["docker", "podman"]) installStub(join(bin, name));
    installEngine(bin, program);
  }
  const env = { ...baseEnvironment(root, bin), ...CHOICE[engine] };
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, {
      cwd: repo,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    writeFileSync(join(repo, path), text);
  };
  const commit = (message: string): string => {
    git("add", "-A");
    git("commit", "-q", "-m", message);
    return git("rev-parse", "HEAD");
  };
  git("init", "-q", "-b", "main");
  write("docs/TASKS.md", PLAN);
  write("src/app.txt", "hello\n");
  commit("Start");
  const guardloop = (args: readonly string[], options: CallOptions = {}): Promise<Ended> =>
    start(args, { cwd: options.cwd ?? repo, env: { ...env, ...options.env } }, options);
  return {
    root,
    repo,
    state: join(root, "state", "guardloop"),
    bin,
    env,
    guardloop,
    run: (script, flags = [], options) =>
      guardloop(["run", "--agent", "command", ...flags, "--", "sh", "-c", script], options),
    git,
    write,
    commit,
    faults: (faults) => writeFileSync(join(bin, `${program}.faults.json`), JSON.stringify(faults)),
    dockerCalls: () => readCalls(join(bin, `${program}.calls.jsonl`)),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Puts a scripted program on the world's PATH. */
export function installProgram(name: string, target: string): void {
  copyFileSync(join(ROOT, "test/rig", name), target);
  chmodSync(target, 0o755);
  writeFileSync(join(dirname(target), "package.json"), '{"type":"module"}');
}

/** Puts a scripted engine on the world's PATH: the quick one, and the whole one beside it. */
export function installEngine(bin: string, engine: "docker" | "podman"): void {
  installProgram("engine.sh", join(bin, engine));
  installProgram("docker.js", join(bin, `${engine}.js`));
  installProgram("scripted-mounts.js", join(bin, "scripted-mounts.js"));
}

/**
 * From now on the world's scripted engine mounts overlays, like one on a Linux host; needs root. Without it the engine
 * refuses them, like one in a virtual machine.
 */
export function letMountOverlays(world: World): void {
  for (const name of ["docker", "podman"]) writeFileSync(join(world.bin, `${name}.overlays`), "");
}

/** Puts a shell script in the place of a hosted agent's program; it tells its version like those do. */
export function installAgent(world: World, name: "claude" | "codex", script: string): void {
  const text = `#!/bin/sh\n[ "$1" != --version ] || { echo "1.0.0 (scripted)"; exit; }\n${script}\n`;
  writeFileSync(join(world.bin, name), text, { mode: 0o755 });
}

function installStub(target: string): void {
  writeFileSync(target, "#!/bin/sh\necho 'Error: there is none in this test' >&2\nexit 125\n", {
    mode: 0o755,
  });
}

function baseEnvironment(root: string, bin: string): Record<string, string> {
  return {
    PATH: [
      bin,
      dirname(process.execPath),
      "/usr/local/bin",
      "/usr/bin",
      "/bin",
      "/usr/sbin",
      "/sbin",
    ].join(":"),
    HOME: join(root, "home"),
    TMPDIR: tmpdir(),
    XDG_STATE_HOME: join(root, "state"),
    XDG_CONFIG_HOME: join(root, "config"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.com",
    LC_ALL: "C.UTF-8",
  };
}

function start(
  args: readonly string[],
  at: { readonly cwd: string; readonly env: Record<string, string> },
  options: CallOptions,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, "bin/guardloop.js"), ...args], {
      cwd: at.cwd,
      env: at.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      options.onStdout?.(text);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      options.onStderr?.(text);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    if (child.pid !== undefined) options.onStart?.(child.pid);
  });
}

function readCalls(path: string): readonly DockerCall[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").trim().split("\n");
  // A shell has variables of its own, which it was not given.
  return lines.map((line) => {
    const { argv, env } = line.startsWith("{") ? (JSON.parse(line) as DockerCall) : quickCall(line);
    return { argv, env: env.filter((name) => !/^(?:PWD|OLDPWD|SHLVL|_)$/.test(name)) };
  });
}

/** As engine.sh writes it down. */
function quickCall(line: string): DockerCall {
  const [, ...fields] = line.split("\u001F");
  const env = fields.lastIndexOf("env");
  return { argv: fields.slice(0, env), env: fields.slice(env + 1) };
}

/** Variables with which guardloop finds no space for the files whose names a regular expression matches. */
export function fullFiles(names: string): Readonly<Record<string, string>> {
  const hook = pathToFileURL(join(ROOT, "test/rig/full-disk-hook.mjs")).href;
  return { NODE_OPTIONS: `--import ${hook}`, FULL_FILES: names };
}

/** The calls of `docker run` for agents. */
export function agentRuns(world: World): readonly (readonly string[])[] {
  return world
    .dockerCalls()
    .map((call) => call.argv)
    .filter(
      (argv) =>
        argv[0] === "run" &&
        argv.some((one) => one.endsWith("-agent") && one.startsWith("--name=")),
    );
}

/**
 * One hash over everything a checkout is: every file with mode and content, refs, HEAD, index entries and
 * configuration. Objects and reflogs may grow: publishing a branch adds objects and touches nothing else.
 */
export function checkoutDigest(world: World, ignoredRefs: RegExp = /^$/): string {
  const hash = createHash("sha256");
  const walk = (directory: string): void => {
    for (const name of readdirSync(directory).toSorted()) {
      const path = join(directory, name);
      if (relative(world.repo, path) === ".git") continue;
      const stat = lstatSync(path);
      hash.update(`${relative(world.repo, path)} ${stat.mode} `);
      if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
      else if (stat.isDirectory()) walk(path);
      else hash.update(readFileSync(path));
    }
  };
  walk(world.repo);
  const refs = world.git("for-each-ref", "--format=%(refname) %(objectname)").split("\n");
  hash.update(refs.filter((ref) => !ignoredRefs.test(ref)).join("\n"));
  hash.update(readFileSync(join(world.repo, ".git/HEAD")));
  hash.update(readFileSync(join(world.repo, ".git/config")));
  hash.update(world.git("ls-files", "--stage", "-v"));
  return hash.digest("hex");
}

export interface RunSummary {
  readonly id: string;
  readonly task: string | null;
  readonly state: string;
  readonly branch: string | null;
  readonly base: string;
  readonly head: string | null;
  readonly failure: {
    readonly stage: string;
    readonly code: string;
    readonly message: string;
  } | null;
}

export async function runsOf(world: World): Promise<readonly RunSummary[]> {
  const listed = await world.guardloop(["runs", "--json"]);
  return (JSON.parse(listed.stdout) as { runs: readonly RunSummary[] }).runs;
}

/** Nothing of a run may be left but its record: no container, lease, snapshot or quarantine. */
export function leftovers(world: World): readonly string[] {
  const found: string[] = [];
  for (const engine of ["containers", "podman-containers"]) {
    const containers = join(world.bin, engine);
    if (existsSync(containers))
      found.push(...readdirSync(containers).map((name) => `container ${name}`));
  }
  const runs = join(world.state, "runs");
  for (const run of existsSync(runs) ? readdirSync(runs) : [])
    for (const name of [
      "workspace",
      "overlay-work",
      "base.git",
      "outbox",
      "quarantine.git",
      "job",
      "setup",
    ])
      if (existsSync(join(runs, run, name))) found.push(`${run}/${name}`);
  const pools = join(world.state, "worktrees");
  for (const file of existsSync(pools) ? readdirSync(pools, { recursive: true }) : [])
    if (/\.lease\/[^/]+\.json$/.test(String(file))) found.push(`lease ${String(file)}`);
    else if (String(file).endsWith("treehouse-state.json"))
      found.push(...treehouseLeases(join(pools, String(file))));
  return found;
}

/** Leases in the state file of the scripted treehouse. */
function treehouseLeases(file: string): readonly string[] {
  const { worktrees } = JSON.parse(readFileSync(file, "utf8")) as {
    readonly worktrees: readonly { readonly path: string; readonly lease_id: string }[];
  };
  return worktrees.filter((row) => row.lease_id !== "").map((row) => `lease ${row.path}`);
}
