import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { STAGES } from "../../src/core/stage-name.ts";
import {
  GOOD_AGENT,
  type RunSummary,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

const BIN = join(import.meta.dirname, "../../bin/guardloop.js");
const AGENT_BRANCHES = /^refs\/heads\/agent\//;

interface Line {
  readonly event?: { readonly type: string; readonly stage?: string };
}

/** Starts a run and sends it SIGKILL, which nothing can catch, as soon as it tells of this event. */
async function killedAt(world: World, point: string): Promise<void> {
  const [type, stage] = point.split(" ");
  // So slow that an agent that is not to end cannot end before the signal is there.
  const script = BEFORE.includes(point) ? `sleep 3\n${GOOD_AGENT}` : GOOD_AGENT;
  const args = ["run", "--json", "--agent", "command", "--", "sh", "-c", script];
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: world.repo,
    env: world.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  let seen = false;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const lines = text.split("\n").slice(0, -1);
    const isPoint = ({ event }: Line): boolean => event?.type === type && event?.stage === stage;
    if (seen || !lines.some((line) => isPoint(JSON.parse(line) as Line))) return;
    seen = true;
    child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.on("exit", resolve));
  if (!seen) throw new Error(`the run never told of ${point}:\n${text}`);
  await settled(world);
}

/** The engine's client outlives us; a moment after the crash its container is there, or the client is gone. */
async function settled(world: World): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const containers = join(world.bin, "containers");
    if (existsSync(containers) && readdirSync(containers).length > 0) return;
    if (!commandLines().some((line) => line.includes(join(world.bin, "docker")))) return;
    await delay(25);
  }
  throw new Error("the scripted engine's client did neither start nor end");
}

function commandLines(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    });
}

/** After a crash and its recovery: the user's side untouched, nothing left over, nothing more to do. */
async function expectRecovered(world: World, before: string): Promise<void> {
  expect(checkoutDigest(world, AGENT_BRANCHES)).toBe(before);
  expect(leftovers(world)).toEqual([]);
  const again = await world.guardloop(["recover"]);
  expect(again.stdout).toBe("Nothing to recover.\n");
  expect(again.code).toBe(0);
  execFileSync("git", ["fsck", "--strict"], { cwd: world.repo, env: world.env, stdio: "pipe" });
}

const points = (stages: readonly string[]): readonly string[] =>
  stages.flatMap((stage) => [`stage-intent ${stage}`, `stage-done ${stage}`]);

/** Points at which the agent is not done yet. */
const BEFORE = points(STAGES.slice(0, STAGES.indexOf("agent") + 1)).slice(0, -1);
/** Once the agent is done its work is there, so recovery brings it to its branch. */
const AFTER = ["stage-done agent", ...points(STAGES.slice(STAGES.indexOf("collect")))];

/** Kills a run at the point and recovers from it. */
async function crashAndRecover(world: World, point: string): Promise<RunSummary | undefined> {
  await killedAt(world, point);
  const recovered = await world.guardloop(["recover"]);
  expect(recovered.stderr).not.toContain("    at ");
  expect(recovered.code).toBe(0);
  const [run] = await runsOf(world);
  return run;
}

describe("killed at", () => {
  test.each(BEFORE)("%s: `recover` undoes everything", async (point) => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const run = await crashAndRecover(world, point);
    expect(run).toMatchObject({ state: "interrupted", branch: null });
    expect(world.git("branch", "--list", "agent/*")).toBe("");
    await expectRecovered(world, before);
  });

  test.each(AFTER)("%s: `recover` brings the work to its branch", async (point) => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const run = await crashAndRecover(world, point);
    expect(run).toMatchObject({ state: "ready", task: "T1", branch: `agent/T1-${run?.id}` });
    expect(world.git("show", `${run?.branch}:T1.txt`)).toBe("work on T1");
    expect(world.git("rev-parse", run?.branch ?? "")).toBe(run?.head);
    await expectRecovered(world, before);
  });

  test("the creation of the run, before anything else", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await killedAt(world, "run-created");
    expect((await world.guardloop(["recover"])).code).toBe(0);
    await expectRecovered(world, before);
  });

  test("the end, when the run is ready already", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await killedAt(world, "run-ready");
    expect((await world.guardloop(["recover"])).code).toBe(0);
    expect((await runsOf(world))[0]?.state).toBe("ready");
    await expectRecovered(world, before);
  });
});

describe("the next run recovers by itself, and works, after a crash at", () => {
  test.each([
    ["stage-done lease", "interrupted"],
    ["stage-intent agent", "interrupted"],
    ["stage-done collect", "ready"],
    ["stage-done import", "ready"],
  ])("%s: that run is %s", async (point, state) => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await killedAt(world, point);
    const next = await world.run(GOOD_AGENT);
    expect(next.stderr).toMatch(/note: Run \S+ was (finished|ended)/);
    expect(next.code).toBe(0);
    const [second, first] = await runsOf(world);
    expect(second?.state).toBe("ready");
    expect(first?.state).toBe(state);
    await expectRecovered(world, before);
  });
});

test("what a killed run's agent had done so far is salvaged", async () => {
  using world = makeWorld();
  const before = checkoutDigest(world);
  await killedWhile(world, `echo half > half.txt; echo started; sleep 120`);
  const recovered = await world.guardloop(["recover"]);
  expect(recovered.stderr).toContain("salvaged: 1 patch is kept");
  expect(recovered.code).toBe(0);
  await expectSalvaged(world);
  await expectRecovered(world, before);
});

test("on a real engine: the container of a killed run is ended, and its work salvaged", async () => {
  using world = makeWorld("docker");
  const before = checkoutDigest(world);
  await killedWhile(world, `echo half > half.txt; echo started; sleep 120`);
  const [running] = await runsOf(world);
  expect(containersOf(running?.id ?? "")).toHaveLength(1);
  expect((await world.guardloop(["recover"])).code).toBe(0);
  expect(containersOf(running?.id ?? "")).toEqual([]);
  await expectSalvaged(world);
  await expectRecovered(world, before);
});

test("recovery that is killed itself is recovered from", async () => {
  using world = makeWorld();
  const before = checkoutDigest(world);
  await killedAt(world, "stage-done agent");
  let pid = 0;
  const killed = await world.guardloop(["recover"], {
    onStart: (started) => (pid = started),
    onStderr: (text) => {
      if (text.includes("import")) process.kill(pid, "SIGKILL");
    },
  });
  expect(killed.code).toBeNull();
  expect((await world.guardloop(["recover"])).code).toBe(0);
  expect((await runsOf(world))[0]?.state).toBe("ready");
  await expectRecovered(world, before);
});

/** Kills the run while its agent works. */
async function killedWhile(world: World, script: string): Promise<void> {
  const args = ["run", "--agent", "command", "--", "sh", "-c", script];
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: world.repo,
    env: world.env,
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const runs = join(world.state, "runs");
  const hasStarted = (): boolean =>
    existsSync(runs) &&
    readdirSync(runs).some((run) => {
      const log = join(runs, run, "agent.log");
      return existsSync(log) && readFileSync(log, "utf8").includes("started");
    });
  while (!hasStarted() && child.exitCode === null) await delay(25);
  child.kill("SIGKILL");
  await ended;
}

async function expectSalvaged(world: World): Promise<void> {
  const [run] = await runsOf(world);
  expect(run).toMatchObject({ state: "interrupted", branch: null });
  const patches = join(world.state, "runs", run?.id ?? "", "salvage/patches");
  const [patch = ""] = readdirSync(patches);
  expect(readFileSync(join(patches, patch), "utf8")).toContain("half.txt");
}

function containersOf(runId: string): readonly string[] {
  const args = ["ps", "-a", `--filter=label=guardloop.run=${runId}`, "--format={{.Names}}"];
  return execFileSync("docker", args, { encoding: "utf8" }).split("\n").filter(Boolean);
}
