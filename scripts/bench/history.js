// Commands on a history of many runs against the same on a history of one. The engine is the scripted one of the tests.
import { chmodSync, copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { median, rounded } from "./median.js";
import { GUARDLOOP, ROOT, makePlace, must } from "./place.js";

const COMMANDS = [
  ["runs"],
  ["runs", "--limit", "20"],
  ["runs", "--state", "failed"],
  ["show", "@last"],
  ["recover"],
];

/** As large as those of real runs; what reads them finds what it looks for. */
const OUTPUTS = {
  lease: {
    lease: { kind: "builtin", id: "0".repeat(32), holder: "guardloop:x", path: "/pool/1/x" },
  },
  collect: { collected: { manifest: "x".repeat(1500) } },
};

/** Memory where there is: each event is synced to disk, and the disk is not what is measured. */
export function historyPlace({ engine }) {
  return makePlace({ engine, ...(existsSync("/dev/shm") ? { directory: "/dev/shm" } : {}) });
}

/** @param {{ runs: number, repetitions: number, say: (text: string) => void }} options */
export async function ofManyRuns(place, { runs, repetitions, say }) {
  const small = await makeState(join(place.root, "one"), 1);
  say(`writing a history of ${runs} runs`);
  const large = await makeState(join(place.root, "all"), runs);
  const commands = [];
  for (const args of COMMANDS) {
    // In turn, so that what else the machine does hits both.
    const times = { small: [], large: [] };
    for (let turn = 0; turn < repetitions; turn += 1) {
      times.small.push(await timed(small, args));
      times.large.push(await timed(large, args));
    }
    const [one, all] = [median(times.small), median(times.large)];
    say(`${args.join(" ")}: ${one.toFixed(2)} s with one run, ${all.toFixed(2)} s with ${runs}`);
    const command = args.join(" ");
    commands.push({ command, one: rounded(one), all: rounded(all), ratio: rounded(all / one) });
  }
  const bytes = statSync(join(large.state, "history.db")).size;
  return { runs, repetitions, databaseMib: Math.round(bytes / 2 ** 20), commands };
}

async function timed({ repo, env }, args) {
  const { ms } = await must([process.execPath, GUARDLOOP, ...args], { cwd: repo, env });
  return ms / 1000;
}

async function makeState(root, runs) {
  const { hostEnvironment } = await import(join(ROOT, "dist/config/environment.js"));
  const { openPrincipal } = await import(join(ROOT, "dist/git/principal.js"));
  const repo = join(root, "repo");
  const bin = join(root, "bin");
  for (const directory of [repo, bin, join(root, "home")])
    mkdirSync(directory, { recursive: true });
  for (const name of ["docker", "podman"]) {
    copyFileSync(join(ROOT, "test/rig/docker.js"), join(bin, name));
    chmodSync(join(bin, name), 0o755);
  }
  // What the scripted engine is made of.
  copyFileSync(join(ROOT, "test/rig/scripted-mounts.js"), join(bin, "scripted-mounts.js"));
  writeFileSync(join(bin, "package.json"), '{"type":"module"}');
  const env = {
    PATH: [bin, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
    HOME: join(root, "home"),
    XDG_STATE_HOME: join(root, "state"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const git = (...args) => execFileSync("git", args, { cwd: repo, env, encoding: "utf8" }).trim();
  git("init", "-q", "-b", "main");
  writeFileSync(join(repo, "file.txt"), "text\n");
  git("add", "-A");
  git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "Start");
  const state = join(root, "state/guardloop");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const program = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const principal = await openPrincipal(program, { ...hostEnvironment(), home: env.HOME }, repo);
  if (!principal.ok) throw new Error(principal.error.message);
  await fill(
    { state, repo, repositoryId: principal.value.repositoryId, base: git("rev-parse", "HEAD") },
    runs,
  );
  return { root, repo, env, state };
}

/** Events as a run writes them: every stage, a manifest among the outputs, one run in ten failed, three in ten promoted. */
async function fill(at, runs) {
  const { openHistory } = await import(join(ROOT, "dist/history/sqlite.js"));
  let clock = Date.UTC(2026, 0, 1);
  const opened = openHistory(at.state, () => new Date((clock += 900)));
  if (!opened.ok) throw new Error(opened.error.message);
  const history = opened.value;
  const owner = { pid: 1, startTime: "1", bootId: "another", host: hostname() };
  for (let number = 0; number < runs; number += 1) {
    const id = `${stamp(clock)}-${number.toString(36).padStart(5, "0")}`;
    mkdirSync(join(at.state, "runs", id, "artifacts/patches"), { recursive: true });
    for (const event of eventsOf(number, { ...at, id, owner })) history.append(id, event);
  }
  history[Symbol.dispose]();
}

function* eventsOf(number, { id, repo, repositoryId, base, owner }) {
  const branch = `agent/T${number}-${id}`;
  const failure = { code: "agent-idle-limit", message: "Silent.", cure: "Look.", details: [] };
  const done = {
    how: "fast-forward",
    before: base,
    after: base,
    by: "ada",
    why: "",
    accepted: [],
    withoutValidation: null,
  };
  yield {
    type: "run-created",
    repositoryId,
    topLevel: repo,
    branch: "main",
    base,
    parentRun: null,
    specHash: "0".repeat(64),
    agent: "command",
    network: "none",
    owner,
  };
  const fails = number % 10 === 9;
  for (const stage of [
    "spec",
    "lease",
    "snapshot",
    "agent",
    "collect",
    "import",
    "release",
    "validate",
    "review",
  ]) {
    if (fails && stage === "collect") break;
    yield { type: "stage-intent", stage };
    const output = OUTPUTS[stage] ?? {};
    yield { type: "stage-done", stage, output };
  }
  if (fails) yield { type: "run-failed", stage: "collect", ...failure };
  else {
    yield { type: "task-selected", task: `T${number}` };
    yield { type: "run-ready", branch, head: base };
    if (number % 10 < 3) yield { type: "run-promoted", ...done };
    else if (number % 10 < 8) yield { type: "run-discarded", by: "ada", why: "" };
  }
}

function stamp(clock) {
  return new Date(clock).toISOString().replaceAll(/[-:]/g, "").slice(2, 15).replace("T", "-");
}
