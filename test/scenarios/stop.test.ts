import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RecordedOwner } from "../../src/core/events.ts";
import { openHistory } from "../../src/history/sqlite.ts";
import { ownerOf } from "../../src/process/owner.ts";
import { ending, refuse, show, succeed } from "../rig/lifecycle.ts";
import { type World, checkoutDigest, leftovers, makeWorld, runsOf } from "../rig/world.ts";

/** Starts a run whose agent has left half a file and waits; resolves when the agent is that far. */
async function workingRun(world: World, also = "") {
  let pid = 0;
  const ended = world.run(
    `echo half > half.txt; ${also} echo started; while :; do sleep 0.1; done`,
    ["--max-tasks", "2", "--keep-going"],
    { onStart: (id) => (pid = id) },
  );
  while (!agentLogs(world).includes("started")) await delay(20);
  return { pid, ended };
}

function agentLogs(world: World): string {
  const runs = join(world.state, "runs");
  if (!existsSync(runs)) return "";
  const logs = readdirSync(runs).map((run) => join(runs, run, "agent.log"));
  return logs.map((log) => (existsSync(log) ? readFileSync(log, "utf8") : "")).join("");
}

/** Programs of this world that still run: of the engine, of the container, of guardloop. */
function livingPrograms(world: World): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    })
    .filter((line) => line.includes(world.root));
}

/** What a killed process leaves to the kernel takes a moment to go. */
async function noProgramIsLeft(world: World): Promise<void> {
  for (let attempt = 0; livingPrograms(world).length > 0 && attempt < 200; attempt += 1)
    await delay(25);
  expect(livingPrograms(world)).toEqual([]);
}

function containersOf(runId: string): string {
  const args = ["ps", "-a", "--quiet", "--filter", `label=guardloop.run=${runId}`];
  return execFileSync("docker", args, { encoding: "utf8" });
}

/** Writes down a running run of somebody else. */
function foreignRun(world: World, owner: RecordedOwner): string {
  const id = "261129-000000-aaaaa";
  const opened = openHistory(world.state, () => new Date());
  if (!opened.ok) throw new Error(opened.error.message);
  using history = opened.value;
  history.append(id, {
    type: "run-created",
    repositoryId: "0".repeat(12),
    topLevel: world.repo,
    branch: "main",
    base: "0".repeat(40),
    parentRun: null,
    specHash: "",
    agent: "command",
    network: "none",
    owner,
  });
  return id;
}

describe("guardloop stop", () => {
  test("ends a run in order: the work is salvaged, the lease returned, no second task begun", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const { ended } = await workingRun(world);
    const stopped = await succeed(world, ["stop", "@last"]);
    expect(stopped.stderr).toContain("takes no further task");
    expect(stopped.stdout).toContain("interrupted");
    expect(stopped.stdout).toMatch(/was stopped by \S+ with `guardloop stop` while the agent/);
    expect(stopped.stdout).toMatch(/What was done is kept: guardloop salvage \S+ --task ID/);
    const run = await ended;
    expect(run.code).toBe(130);
    expect(run.stderr).toContain("told to stop by `guardloop stop`");
    expect(await runsOf(world)).toHaveLength(1);
    expect(leftovers(world)).toEqual([]);
    expect(checkoutDigest(world)).toBe(before);
    await noProgramIsLeft(world);
    await succeed(world, ["salvage", "@last", "--task", "T1", "--message", "Half"]);
    const { run: salvaged } = await show(world);
    expect(world.git("show", `${salvaged.branch}:half.txt`)).toBe("half");
  });

  test("asked for twice, still ends it in order", async () => {
    using world = makeWorld();
    // An agent that takes its time with the polite signal.
    const { ended } = await workingRun(world, `trap "sleep 2; exit 0" TERM;`);
    const both = await Promise.all([
      world.guardloop(["stop", "@last"]),
      world.guardloop(["stop", "@last"]),
    ]);
    expect(both.map((one) => ending(one))).toEqual(["exit 0", "exit 0"]);
    const run = await ended;
    expect(run.stderr).not.toContain("ended at once");
    expect(run.stderr).toContain("salvaged");
    expect(leftovers(world)).toEqual([]);
  });

  // On the real engine: the scripted one cannot end an agent that leaves the guest's process group.
  test("--now ends the process at once from anywhere, and leaves nothing lying about", async () => {
    using world = makeWorld("docker");
    const before = checkoutDigest(world);
    const { ended } = await workingRun(world, `trap "" TERM;`);
    const stopped = await succeed(world, ["stop", "@last", "--now"], { cwd: world.root });
    expect(stopped.stdout).toMatch(/stopped at once by \S+ with `guardloop stop --now`/);
    expect(stopped.stdout).toContain("What was done is kept");
    expect((await ended).stderr).toContain("ended at once");
    expect(leftovers(world)).toEqual([]);
    expect(containersOf((await show(world)).run.id)).toBe("");
    expect(checkoutDigest(world)).toBe(before);
    await noProgramIsLeft(world);
    expect((await succeed(world, ["recover"])).stdout).toBe("Nothing to recover.\n");
  });

  test("that waits no longer says so, and the run goes on ending", async () => {
    using world = makeWorld();
    const { ended } = await workingRun(world, `trap "sleep 3; exit 0" TERM;`);
    const error = await refuse(world, ["stop", "@last", "--wait", "0"], {
      status: 1,
      code: "still-ending",
    });
    expect(error.cure).toContain("--now");
    expect((await ended).code).toBe(130);
  });

  test("of a run that has ended says how it is", async () => {
    using world = makeWorld();
    await world.run("true");
    const error = await refuse(world, ["stop", "@last"], { status: 2, code: "not-in-this-state" });
    expect(error.message).toContain("it is failed");
  });

  test("of a run whose process was killed points to recover, and changes nothing", async () => {
    using world = makeWorld("docker");
    const { pid, ended } = await workingRun(world);
    process.kill(pid, "SIGKILL");
    await ended;
    for (const flags of [[], ["--now"]]) {
      const error = await refuse(world, ["stop", "@last", ...flags], { code: "owner-gone" });
      expect(error.cure).toContain("guardloop recover");
    }
    await succeed(world, ["recover"]);
    expect((await show(world)).run).toMatchObject({
      failure: { message: expect.stringContaining("died in the stage agent") },
    });
  });
});

describe("a process that is not the run's owner is never signalled", () => {
  test("one that has its number now", async () => {
    using world = makeWorld();
    await succeed(world, ["runs"]);
    const id = foreignRun(world, { ...ownerOf(process.pid, hostname()), startTime: "1" });
    const error = await refuse(world, ["stop", id], { code: "owner-gone" });
    expect(error.message).toContain("is gone");
  });

  test("one of an earlier boot", async () => {
    using world = makeWorld();
    await succeed(world, ["runs"]);
    const id = foreignRun(world, { ...ownerOf(process.pid, hostname()), bootId: "before" });
    const error = await refuse(world, ["stop", id, "--now"], { code: "owner-gone" });
    expect(error.message).toContain("is gone");
  });

  test("one on another host", async () => {
    using world = makeWorld();
    await succeed(world, ["runs"]);
    const id = foreignRun(world, ownerOf(process.pid, "elsewhere.example"));
    const error = await refuse(world, ["stop", id], { code: "owner-out-of-reach" });
    expect(error.message).toContain("elsewhere.example");
  });

  test("one whose start is not known", async () => {
    using world = makeWorld();
    await succeed(world, ["runs"]);
    const id = foreignRun(world, { ...ownerOf(process.pid, hostname()), startTime: "" });
    const error = await refuse(world, ["stop", id, "--now"], { code: "owner-out-of-reach" });
    expect(error.message).toContain("left alone");
  });
});
