import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  FINISH,
  GOOD_AGENT,
  type RunSummary,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

async function lastRun(world: World): Promise<RunSummary | undefined> {
  return (await runsOf(world))[0];
}

function leasesLeft(world: World): readonly string[] {
  return leftovers(world).filter((one) => one.startsWith("lease"));
}

async function keptSnapshot(world: World): Promise<{ readonly path: string } | null> {
  const shown = await world.guardloop(["show", "@last", "--json"]);
  return (JSON.parse(shown.stdout) as { keptSnapshot: { path: string } | null }).keptSnapshot;
}

describe("an engine that does not answer", () => {
  test("before the run: refused, and nothing is made", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    world.faults({ daemonGone: true });
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("Docker does not answer");
    expect(ended.stderr).toContain("guardloop doctor");
    expect(await runsOf(world)).toEqual([]);
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  test("at recovery: refused by name", async () => {
    using world = makeWorld();
    world.faults({ daemonGone: true });
    const ended = await world.guardloop(["recover"]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("Docker does not answer");
  });

  test("any more after the agent: nothing unproven is read, the snapshot is kept, the lease returned", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    world.faults({ afterScript: `echo '{"daemonGone":true}' > "$FAULTS"` });
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(1);
    expect(await lastRun(world)).toMatchObject({
      state: "failed",
      branch: null,
      failure: { stage: "collect", code: "container-failed" },
    });
    expect(ended.stderr).toContain("Docker does not answer");
    expect(ended.stderr).toContain("kept: the snapshot could not be exported");
    expect(checkoutDigest(world)).toBe(before);
    expect(leasesLeft(world)).toEqual([]);
    const kept = await keptSnapshot(world);
    expect(readFileSync(join(kept?.path ?? "", "T1.txt"), "utf8")).toBe("work on T1\n");
    world.faults({});
    expect((await world.guardloop(["recover"])).code).toBe(0);
    expect(existsSync(join(kept?.path ?? "", "T1.txt"))).toBe(true);
    expect((await world.run(GOOD_AGENT)).code).toBe(0);
  });
});

test("a container that is refused by the engine fails the run in the engine's words", async () => {
  using world = makeWorld();
  const before = checkoutDigest(world);
  world.faults({ runRefused: true });
  const ended = await world.run(GOOD_AGENT);
  expect(ended.code).toBe(1);
  expect(await lastRun(world)).toMatchObject({
    state: "failed",
    failure: { stage: "agent", code: "container-failed" },
  });
  expect(ended.stderr).toContain("something is wrong");
  expect(checkoutDigest(world)).toBe(before);
  expect(leasesLeft(world)).toEqual([]);
});

describe("a container that does not go away", () => {
  test("is removed by force, and then its work is imported", async () => {
    using world = makeWorld();
    world.faults({ containerStays: true });
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(0);
    expect((await lastRun(world))?.state).toBe("ready");
    expect(leftovers(world)).toEqual([]);
  });

  test("and cannot be removed: nothing of it is read, and recovery removes it later", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    world.faults({ containerStays: true, removeRefused: true });
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(1);
    const run = await lastRun(world);
    expect(run).toMatchObject({
      state: "failed",
      branch: null,
      failure: { stage: "collect", code: "container-survived" },
    });
    expect(existsSync(join(world.state, "runs", run?.id ?? "", "artifacts"))).toBe(false);
    expect(checkoutDigest(world)).toBe(before);
    expect(leasesLeft(world)).toEqual([]);
    expect(await keptSnapshot(world)).not.toBeNull();
    world.faults({});
    const recovered = await world.guardloop(["recover"]);
    expect(recovered.stdout).toMatch(/Removed the container guardloop-\S+-agent\./);
    expect(leftovers(world).filter((one) => one.startsWith("container"))).toEqual([]);
  }, 120_000);
});

describe("the memory limit", () => {
  // The agent runs on the host here: its parent is the guest.
  const KILL_GUEST = "kill -9 $PPID";

  test("that ended the container has a failure of its own, and the work is salvaged", async () => {
    using world = makeWorld();
    world.faults({ outOfMemory: true });
    const ended = await world.run(`echo half > half.txt\n${KILL_GUEST}`);
    expect(ended.code).toBe(1);
    expect(await lastRun(world)).toMatchObject({ failure: { code: "agent-out-of-memory" } });
    expect(ended.stderr).toContain("memory limit of 4096 MiB");
    expect(ended.stderr).toContain("salvaged: 1 patch");
    expect(leftovers(world)).toEqual([]);
  });

  test("is not blamed for a container that was ended by something else", async () => {
    using world = makeWorld();
    const ended = await world.run(`${FINISH} echo half > half.txt\n${KILL_GUEST}`);
    expect(ended.code).toBe(1);
    const run = await lastRun(world);
    expect(run?.failure?.code).toBe("agent-killed");
    expect(leftovers(world)).toEqual([]);
  });

  test("that the guest survived is a finding", async () => {
    using world = makeWorld();
    world.faults({ outOfMemory: true });
    expect((await world.run(GOOD_AGENT)).code).toBe(0);
    const review = await world.guardloop(["review", "@last", "--findings"]);
    expect(review.stdout).toContain("memory-limit");
  });

  test("of a real container is seen, whether or not the engine tells, and the guest outlives it", async () => {
    using world = makeWorld("docker");
    const ended = await world.run(`${GOOD_AGENT}\n${HOG}; true`, ["--memory", "256m"]);
    expect(ended.code).toBe(0);
    const review = await world.guardloop(["review", "@last", "--findings"]);
    expect(review.stdout).toContain("memory-limit");
    expect(leftovers(world)).toEqual([]);
  });

  test("is named where it ended the agent before it had left its artifacts", async () => {
    using world = makeWorld("docker");
    const ended = await world.run(`exec ${HOG}`, ["--memory", "256m"]);
    expect(ended.code).toBe(4);
    expect((await lastRun(world))?.failure?.message).toBe(
      "The agent did not leave selected-task-id.txt. It was ended by SIGKILL. A program in the container was ended at the memory limit of 256 MiB.",
    );
  });
});

describe("the limit of processes", () => {
  const FORKS = `node -e 'const { spawn } = require("child_process"); for (let n = 0; n < 60; n += 1) try { spawn("sleep", ["9"]).on("error", () => {}); } catch {} process.exit(3)'`;

  test("of a real container that was hit is a finding", async () => {
    using world = makeWorld("docker");
    const ended = await world.run(`${GOOD_AGENT}\n${FORKS}; true`, ["--pids", "40"]);
    expect(ended.code).toBe(0);
    const review = await world.guardloop(["review", "@last", "--findings"]);
    expect(review.stdout).toMatch(
      /process-limit +The container hit its limit on processes; \d+ were/,
    );
  });

  test("is named where the agent did not leave its artifacts", async () => {
    using world = makeWorld("docker");
    await world.run(FORKS, ["--pids", "40"]);
    expect((await lastRun(world))?.failure?.message).toBe(
      "The agent did not leave selected-task-id.txt. It ended with status 3. The container hit its limit of 40 processes.",
    );
  });
});

/** Takes all the memory there is. */
const HOG = `node -e 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))'`;

describe.each(["scripted", "docker"] as const)("the client of the %s engine", (engine) => {
  test("is killed while the agent works: the container is ended, its work salvaged", async () => {
    using world = makeWorld(engine);
    const before = checkoutDigest(world);
    const killed = killClient(world);
    const ended = await world.run("echo half > half.txt; echo started; sleep 120");
    await killed;
    expect(ended.code).toBe(1);
    const run = await lastRun(world);
    expect(run).toMatchObject({
      state: "failed",
      failure: { stage: "agent", code: "container-failed" },
    });
    expect(run?.failure?.message).toMatch(/SIGKILL/);
    const patches = join(world.state, "runs", run?.id ?? "", "salvage/patches");
    expect(readFileSync(join(patches, readdirSync(patches)[0] ?? ""), "utf8")).toContain(
      "half.txt",
    );
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
    expect(engine === "docker" ? realContainersOf(run?.id ?? "") : "").toBe("");
  });
});

/** Of the real engine; on the scripted one `leftovers` knows them. */
function realContainersOf(runId: string): string {
  const filter = `--filter=label=guardloop.run=${runId}`;
  return execFileSync("docker", ["ps", "-aq", filter], { encoding: "utf8" });
}

/** Kills the engine's client of this world's run with SIGKILL, once the agent has said something. */
async function killClient(world: World): Promise<void> {
  const runs = join(world.state, "runs");
  for (let attempt = 0; attempt < 2_000; attempt += 1) {
    await delay(25);
    const [run = ""] = existsSync(runs) ? readdirSync(runs) : [];
    const log = join(runs, run, "agent.log");
    if (run === "" || !existsSync(log) || !readFileSync(log, "utf8").includes("started")) continue;
    const client = processes().find(({ argv }) => argv.includes(`--name=guardloop-${run}-agent`));
    if (client === undefined) continue;
    process.kill(client.pid, "SIGKILL");
    return;
  }
  throw new Error("the engine's client was not found");
}

function processes(): readonly { readonly pid: number; readonly argv: readonly string[] }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return { pid: Number(pid), argv: readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0") };
      } catch {
        return { pid: Number(pid), argv: [] };
      }
    });
}
