#!/usr/bin/env node
// Usage: node scripts/soak.js [--runs N] [--parallel N] [--engine docker|podman] [--out FILE]
//
// Runs many short tasks for real, each in a container of its own, by one `guardloop run`, and counts what is left at
// the end: containers, volumes, worktrees, leases, snapshots, refs, processes, descriptors and memory of the runner.
// Works in a temporary directory with a state of its own; removes it when nothing was left. See docs/soak.md.
//
// Exit status: 0 every run ended ready and nothing was left; 1 otherwise, with the list.
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    parallel: { type: "string", default: "1" },
    engine: { type: "string", default: "docker" },
    out: { type: "string" },
  },
});
const RUNS = Number(options.runs);
const PARALLEL = Number(options.parallel);
const GUARDLOOP = fileURLToPath(new URL("../bin/guardloop.js", import.meta.url));
/** Of the runner's samples at the start and at the end that are compared. */
const WINDOW = Math.max(1, Math.min(20, Math.floor(RUNS / 4)));

const root = mkdtempSync(join(tmpdir(), "guardloop-soak-"));
const repo = join(root, "shop");
const state = join(root, "state", "guardloop");
const env = {
  PATH: process.env.PATH,
  HOME: join(root, "home"),
  XDG_STATE_HOME: join(root, "state"),
  XDG_CONFIG_HOME: join(root, "config"),
  GIT_CONFIG_NOSYSTEM: "1",
  LC_ALL: "C.UTF-8",
};

// The one task that the host assigned stands in the prompt.
const AGENT = `
id=$(grep -oE 'S[0-9]{4}' "$GUARDLOOP_PROMPT" | head -n 1)
echo "work on $id" > "$id.txt"
awk -v id="$id" '/^## /{here=($2==id)} here && /^Status: ready/{sub("ready","done")} {print}' docs/TASKS.md > "$TMPDIR/plan"
cat "$TMPDIR/plan" > docs/TASKS.md
printf '%s\\n' "$id" > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
printf 'Do %s\\n' "$id" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;

function git(...args) {
  return execFileSync("git", args, { cwd: repo, env, encoding: "utf8" }).trim();
}

function makeRepository() {
  for (const directory of [join(repo, "docs"), env.HOME]) mkdirSync(directory, { recursive: true });
  const tasks = Array.from(
    { length: RUNS },
    (_, index) =>
      `## S${String(index + 1).padStart(4, "0")} — Task ${index + 1}\n\nStatus: ready\n`,
  );
  writeFileSync(join(repo, "docs/TASKS.md"), `# Plan\n\n${tasks.join("\n")}`);
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Soak");
  git("config", "user.email", "soak@example.invalid");
  git("add", "--all");
  git("commit", "--quiet", "--message=Start");
}

function engine(...args) {
  const output = execFileSync(options.engine, args, { encoding: "utf8" });
  return output.split("\n").filter((line) => line !== "");
}

function names(directory) {
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** Descriptors and resident memory of the runner, in bytes; undefined when it has ended. */
function sampleOf(pid) {
  try {
    const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return { descriptors: readdirSync(`/proc/${pid}/fd`).length, bytes: Number(resident) * 1024 };
  } catch {
    return undefined;
  }
}

/** Runs it all; a sample after each run that has become ready. */
function soak() {
  return new Promise((resolve, reject) => {
    const series = ["--independent", "--keep-going", `--max-tasks=${RUNS}`];
    if (PARALLEL > 1) series.push(`--parallel=${PARALLEL}`);
    const container = [`--engine=${options.engine}`, "--memory=512m"];
    const agent = ["--agent=command", "--", "sh", "-c", AGENT];
    const args = ["run", "--json", ...series, ...container, ...agent];
    const child = spawn(process.execPath, [GUARDLOOP, ...args], { cwd: repo, env });
    const samples = [];
    let rest = "";
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr = `${stderr}${chunk}`.slice(-4000)));
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.includes('"type":"run-ready"')) continue;
        const sample = sampleOf(child.pid);
        if (sample !== undefined) samples.push(sample);
        process.stderr.write(`\r${samples.length} of ${RUNS} ready`);
      }
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ pid: child.pid, code, samples, stderr }));
  });
}

/** Everything of these runs that should not be there any more. */
function leftovers() {
  const ids = names(join(state, "runs"));
  const mine = (name) => ids.some((id) => name.includes(id));
  const worktrees = git("worktree", "list", "--porcelain").match(/^worktree .*/gm) ?? [];
  const leases = names(join(state, "worktrees")).flatMap((pool) =>
    names(join(state, "worktrees", pool)).flatMap((one) =>
      names(join(state, "worktrees", pool, one)).filter((name) => name.endsWith(".json")),
    ),
  );
  return {
    containers: engine("ps", "--all", "--format", "{{.Names}}").filter(mine),
    volumes: engine("volume", "ls", "--quiet").filter(mine),
    snapshots: ids.flatMap((id) =>
      ["workspace", "base.git", "outbox", "quarantine.git", "job"]
        .filter((name) => existsSync(join(state, "runs", id, name)))
        .map((name) => `${id}/${name}`),
    ),
    leases,
    // The pool keeps as many worktrees as ran at once, for the next run.
    worktrees: worktrees.slice(1 + PARALLEL),
    refs: git("for-each-ref", "--format=%(refname)")
      .split("\n")
      .filter((ref) => ref !== "refs/heads/main" && !/^refs\/heads\/agent\/S\d{4}-/.test(ref)),
    processes: names("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => commandLine(pid).includes(root)),
  };
}

function commandLine(pid) {
  try {
    return Number(pid) === process.pid ? "" : readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function mean(samples, key) {
  return Math.round(samples.reduce((sum, one) => sum + one[key], 0) / samples.length);
}

makeRepository();
const before = git("rev-parse", "HEAD");
const startedAt = Date.now();
const { code, samples, stderr } = await soak();
const seconds = Math.round((Date.now() - startedAt) / 1000);
process.stderr.write("\n");
const listed = execFileSync(process.execPath, [GUARDLOOP, "runs", "--json", "--limit=1000"], {
  cwd: repo,
  env,
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
});
const { runs } = JSON.parse(listed);
const first = samples.slice(0, WINDOW);
const last = samples.slice(-WINDOW);
const left = leftovers();
const result = {
  runs: runs.length,
  parallel: PARALLEL,
  engine: options.engine,
  node: process.version,
  exitStatus: code,
  seconds,
  ready: runs.filter((run) => run.state === "ready").length,
  differentTasks: new Set(runs.map((run) => run.task)).size,
  checkout:
    git("rev-parse", "HEAD") === before && git("status", "--porcelain") === ""
      ? "untouched"
      : "changed",
  descriptors: { first: mean(first, "descriptors"), last: mean(last, "descriptors") },
  memoryMiB: {
    first: Math.round(mean(first, "bytes") / 2 ** 20),
    last: Math.round(mean(last, "bytes") / 2 ** 20),
    most: Math.round(Math.max(...samples.map((one) => one.bytes)) / 2 ** 20),
  },
  stateMiB: Number(
    execFileSync("du", ["-sm", dirname(state)], { encoding: "utf8" }).split("\t")[0],
  ),
  left,
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
if (options.out !== undefined) writeFileSync(options.out, `${JSON.stringify(result, null, 2)}\n`);
const clean =
  code === 0 &&
  result.ready === RUNS &&
  result.differentTasks === RUNS &&
  result.checkout === "untouched" &&
  Object.values(left).every((list) => list.length === 0);
if (clean) rmSync(root, { recursive: true, force: true });
else process.stderr.write(`Look at ${root}\n${stderr}`);
process.exitCode = clean ? 0 : 1;
