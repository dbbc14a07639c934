import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { STAGES } from "../../src/core/stage-name.ts";
import { BEFORE, expectRecovered, killedAt, killedWhile, points } from "../rig/crash.ts";
import {
  GOOD_AGENT,
  type RunSummary,
  type World,
  checkoutDigest,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

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

test("what a run of another version has left is salvaged by the guest of this one", async () => {
  using world = makeWorld();
  await killedWhile(world, `echo half > half.txt; echo started; sleep 120`);
  const [running] = await runsOf(world);
  const job = join(world.state, "runs", running?.id ?? "", "job");
  renameSync(join(job, "guest.cjs"), join(job, "guest.mjs"));
  expect((await world.guardloop(["recover"])).code).toBe(0);
  await expectSalvaged(world);
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
