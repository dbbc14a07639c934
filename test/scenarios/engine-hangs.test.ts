import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { IN_A_HURRY } from "../rig/clock.ts";
import { killedWhile } from "../rig/crash.ts";
import { quiet } from "../rig/effects.ts";
import { ending, show, succeed } from "../rig/lifecycle.ts";
import {
  type CallOptions,
  type Ended,
  GOOD_AGENT,
  type World,
  checkoutDigest,
  leftovers,
  letMountOverlays,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

const AGENT_BRANCHES = /^refs\/heads\/agent\//;
/** Else the first container is one that tries how snapshots get their files. */
const NO_TRIAL = ["--snapshot-method", "copy"];
const HALF = "echo half > half.txt; sleep 120";

/** A run with this engine's deadlines in a hurry; its clients are gone afterwards, and the checkout is as before. */
async function runOn(
  world: World,
  script: string,
  {
    flags = [],
    ...options
  }: Omit<CallOptions, "env"> & { readonly flags?: readonly string[] } = {},
): Promise<Ended> {
  const before = checkoutDigest(world);
  const ended = await world.run(script, flags, { ...options, env: IN_A_HURRY });
  await quiet(world);
  expect(ended.stderr).not.toContain("    at ");
  expect(checkoutDigest(world, AGENT_BRANCHES)).toBe(before);
  return ended;
}

function salvagedPatch(world: World, runId: string): string {
  const patches = join(world.state, "runs", runId, "salvage/patches");
  return readFileSync(join(patches, readdirSync(patches)[0] ?? ""), "utf8");
}

/** From now on, calls of these kinds are taken and never answered. */
const hangFromNow = (...verbs: readonly string[]): string =>
  `echo '${JSON.stringify({ hang: verbs })}' > "$FAULTS"`;

describe.concurrent("an engine that never answers", () => {
  test.each([
    ["info", "describe itself"],
    ["image inspect", "look for the image guardloop-agent"],
  ])("%s: the run is refused, and nothing is made", async (verb, asked) => {
    using world = makeWorld();
    world.faults({ hang: [verb] });
    const ended = await runOn(world, GOOD_AGENT);
    expect(ended.stderr).toContain(`Docker did not answer in time when asked to ${asked}.`);
    expect(ended.code).toBe(3);
    expect(await runsOf(world)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });

  test("run: the engine is named and not the agent, and nothing is left", async () => {
    using world = makeWorld();
    world.faults({ hang: ["run"] });
    const ended = await runOn(world, GOOD_AGENT, {
      flags: ["--idle-minutes", "0.5", ...NO_TRIAL],
      onStderr: (text) => {
        if (/agent +failed/.test(text)) world.faults({});
      },
    });
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ failure: { stage: "agent", code: "container-failed" } });
    expect(run?.failure?.message).toMatch(/^Docker did not answer in time when asked to run the /);
    expect(ended.stderr).toContain("Restart Docker (for example `systemctl restart docker`)");
    expect(leftovers(world)).toEqual([]);
  });

  test("the client of a container that has ended: its work is imported all the same", async () => {
    using world = makeWorld();
    world.faults({ clientStays: true });
    const ended = await runOn(world, GOOD_AGENT, { flags: ["--completion-minutes", "0.5"] });
    expect(ending(ended)).toBe("exit 0");
    expect(leftovers(world)).toEqual([]);
  });

  test("kill: the agent is given up by its clock, removed by force, and its work salvaged", async () => {
    using world = makeWorld();
    world.faults({ hang: ["kill"] });
    const ended = await runOn(world, `echo started; ${HALF}`, {
      flags: ["--idle-minutes", "0.5"],
    });
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run?.failure?.code).toBe("agent-idle-limit");
    expect(salvagedPatch(world, run?.id ?? "")).toContain("half.txt");
    expect(leftovers(world)).toEqual([]);
  });

  test.each(["events", "stats"])("%s: the run is ready without the answer", async (verb) => {
    using world = makeWorld();
    world.faults({ hang: [verb] });
    // The first look at what the container uses comes after three seconds.
    const ended = await runOn(world, `sleep 4\n${GOOD_AGENT}`);
    expect(ending(ended)).toBe("exit 0");
    expect(world.dockerCalls().some(({ argv }) => argv[0] === verb)).toBe(true);
    expect(leftovers(world)).toEqual([]);
  });

  test("ps: nothing unproven is read, the snapshot is kept, and `salvage` gets the work out later", async () => {
    using world = makeWorld();
    world.faults({ afterScript: hangFromNow("ps") });
    const ended = await runOn(world, GOOD_AGENT);
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ failure: { stage: "collect", code: "container-failed" } });
    expect(existsSync(join(world.state, "runs", run?.id ?? "", "artifacts"))).toBe(false);
    expect(ended.stderr).toContain(`try again with: guardloop salvage ${run?.id}`);
    world.faults({});
    await succeed(world, ["recover"]);
    await succeed(world, ["salvage", "@last"]);
    const { branch } = (await show(world)).run;
    expect(world.git("show", `${branch}:T1.txt`)).toBe("work on T1");
    expect(leftovers(world)).toEqual([]);
  });

  test("rm: a run that goes well does not ask for it", async () => {
    using world = makeWorld();
    world.faults({ hang: ["rm"] });
    expect((await runOn(world, GOOD_AGENT)).code).toBe(0);
    expect((await runsOf(world)).map(({ state }) => state)).toEqual(["ready"]);
    expect(leftovers(world)).toEqual([]);
  });

  test.each(["wait", "logs"])("%s, for an adopted agent: what it did is salvaged", async (verb) => {
    using world = makeWorld();
    world.env.GUARD_IDLE_MINUTES = "0.5";
    await killedWhile(world, `echo half > half.txt; echo started; sleep 120`);
    world.faults({ hang: [verb] });
    const recovered = await world.guardloop(["recover", "--orphans", "adopt"], { env: IN_A_HURRY });
    const [run] = await runsOf(world);
    expect(recovered.stdout).toContain(`Run ${run?.id} was adopted, and ended:`);
    expect(run?.state).toBe("failed");
    expect(salvagedPatch(world, run?.id ?? "")).toContain("half.txt");
    expect(leftovers(world)).toEqual([]);
    await quiet(world);
  });
});

/** Sends the signal once the engine's client was asked for this. */
async function interruptAt(world: World, pid: number, verb: string): Promise<void> {
  while (!world.dockerCalls().some(({ argv }) => argv[0] === verb)) await delay(25);
  process.kill(pid, "SIGINT");
}

describe.concurrent("Ctrl-C while the engine never starts the container", () => {
  test("once: the run ends in order, and nothing is left", async () => {
    using world = makeWorld();
    world.faults({ hang: ["run"] });
    let interrupted: Promise<void> | undefined;
    const ended = await runOn(world, GOOD_AGENT, {
      flags: NO_TRIAL,
      onStart(pid) {
        interrupted = interruptAt(world, pid, "run").then(() => world.faults({}));
      },
    });
    await interrupted;
    expect(ended.code).toBe(130);
    expect((await runsOf(world))[0]?.failure?.code).toBe("interrupted");
    expect(leftovers(world)).toEqual([]);
  });

  test("twice: the run ends at once, and recovery cleans up when the engine answers", async () => {
    using world = makeWorld();
    world.faults({ hang: ["run", "kill"] });
    let interrupted: Promise<void> | undefined;
    const ended = await runOn(world, GOOD_AGENT, {
      flags: NO_TRIAL,
      onStart(pid) {
        interrupted = interruptAt(world, pid, "run").then(() => interruptAt(world, pid, "kill"));
      },
    });
    await interrupted;
    expect(ended.code).toBe(130);
    world.faults({});
    await succeed(world, ["recover"]);
    expect((await runsOf(world))[0]?.state).toBe("interrupted");
    expect(leftovers(world)).toEqual([]);
  });
});

describe.concurrent("an engine that never ends the trial of layers", () => {
  test("does not keep a run from going on without them, and nothing is remembered", async () => {
    using world = makeWorld();
    world.faults({ hang: ["run"] });
    letMountOverlays(world);
    const ended = await runOn(world, GOOD_AGENT, {
      onStderr: (text) => {
        if (text.includes("lease")) world.faults({});
      },
    });
    expect(ending(ended)).toBe("exit 0");
    expect(JSON.stringify(await show(world))).toContain("over layers took too long");
    expect(readdirSync(join(world.state, "snapshot-trials"))).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });

  test("is given up at Ctrl-C, before there is a run", async () => {
    using world = makeWorld();
    world.faults({ hang: ["run"] });
    let interrupted: Promise<void> | undefined;
    const ended = await runOn(world, GOOD_AGENT, {
      onStart(pid) {
        interrupted = interruptAt(world, pid, "run");
      },
    });
    await interrupted;
    expect(ended.code).toBe(130);
    expect(await runsOf(world)).toEqual([]);
    expect(readdirSync(join(world.state, "snapshot-trials"))).toEqual([]);
  });
});

describe.concurrent("an engine that is started again while the agent works", () => {
  test.each([
    ["at once", 0],
    ["after some calls in vain", 6],
  ])("and answers %s: the run fails by name, and its work is salvaged", async (_, calls) => {
    using world = makeWorld();
    const restart = `echo ${calls} > "${join(world.bin, "docker.restart")}"`;
    const ended = await runOn(world, `echo half > half.txt; ${restart}; sleep 120`);
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ failure: { stage: "agent", code: "container-failed" } });
    expect(run?.failure?.message).toContain("error waiting for container: EOF");
    expect(salvagedPatch(world, run?.id ?? "")).toContain("half.txt");
    expect(leftovers(world)).toEqual([]);
    await succeed(world, ["recover"]);
    expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
  });

  test("right after it: the artifacts are collected as soon as the engine answers", async () => {
    using world = makeWorld();
    world.faults({ afterScript: `echo 3 > "${join(world.bin, "docker.down")}"` });
    const ended = await runOn(world, GOOD_AGENT);
    expect(ending(ended)).toBe("exit 0");
    expect(leftovers(world)).toEqual([]);
  });
});
