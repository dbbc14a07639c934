import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending, show, succeed } from "../rig/lifecycle.ts";
import {
  agentLogs,
  dockerContainersOf,
  expectNoProgramLeft,
  orphanedRun,
  until,
} from "../rig/orphans.ts";
import {
  type World,
  GOOD_AGENT,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

const AGENT_BRANCHES = /^refs\/heads\/agent\//;
const FOREVER = "while :; do sleep 0.1; done";
const ADOPT = ["recover", "--orphans", "adopt"];

/** An agent that works until the world lets it go. */
function waitingAgent(world: World): { readonly script: string; readonly letGo: () => void } {
  const wait = join(world.root, "wait");
  writeFileSync(wait, "");
  return {
    script: `while [ -e ${wait} ]; do sleep 0.1; done; echo went on; ${GOOD_AGENT}`,
    letGo: () => rmSync(wait),
  };
}

/** Recovers with adoption, and waits until the run is this recovery's. */
async function adopting(world: World, args = ADOPT) {
  let pid = 0;
  let said = "";
  const ended = world.guardloop(args, {
    onStart: (id) => (pid = id),
    onStderr: (text) => (said += text),
  });
  await until("the run was adopted", () => said.includes("its agent goes on here"));
  return { pid, ended };
}

async function expectClean(world: World, before: string): Promise<void> {
  expect(leftovers(world)).toEqual([]);
  expect(checkoutDigest(world, AGENT_BRANCHES)).toBe(before);
  await expectNoProgramLeft(world);
  expect((await succeed(world, ADOPT)).stdout).toBe("Nothing to recover.\n");
}

function salvagedPatch(world: World, runId: string): string {
  const patches = join(world.state, "runs", runId, "salvage/patches");
  return readFileSync(join(patches, readdirSync(patches)[0] ?? ""), "utf8");
}

describe("a container that outlived its guardloop", () => {
  test("is stopped without a word to the contrary, and its work salvaged", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await orphanedRun(world, `echo half > half.txt; ${FOREVER}`);
    const recovered = await succeed(world, ["recover"]);
    expect(recovered.stderr).toContain("salvaged: 1 patch");
    expect((await runsOf(world))[0]?.state).toBe("interrupted");
    await expectClean(world, before);
  });

  test("goes on when it is adopted: its work is imported, its output goes on in the log", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const agent = waitingAgent(world);
    await orphanedRun(world, agent.script);
    const { ended } = await adopting(world);
    // Whoever recovers meanwhile leaves it alone.
    expect((await succeed(world, ADOPT)).stdout).toBe("Nothing to recover.\n");
    expect((await succeed(world, ["recover"])).stdout).toBe("Nothing to recover.\n");
    agent.letGo();
    const recovered = await ended;
    expect(ending(recovered)).toBe("exit 0");
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ state: "ready", task: "T1" });
    expect(recovered.stdout).toBe(
      `Run ${run?.id ?? ""} was adopted: its work is on ${run?.branch ?? ""}.\n`,
    );
    expect(world.git("show", `${run?.branch ?? ""}:T1.txt`)).toBe("work on T1");
    expect(agentLogs(world)).toMatch(
      /started\n+[^]*\[guardloop: adopted by process \d+ [^]*went on/,
    );
    await expectClean(world, before);
  });

  test("is adopted by the setting, at the start of the next run, which comes after it", async () => {
    using world = makeWorld();
    world.write("guardloop.toml", '[recovery]\ncontainers = "adopt"\n');
    world.commit("Adopt");
    const agent = waitingAgent(world);
    await orphanedRun(world, agent.script);
    const next = world.run(GOOD_AGENT, [], {
      onStderr: (text) => {
        if (text.includes("its agent goes on here")) agent.letGo();
      },
    });
    expect(ending(await next)).toBe("exit 0");
    const runs = await runsOf(world);
    expect(runs.map(({ state }) => state)).toEqual(["ready", "ready"]);
  });

  test("that ended by itself meanwhile is imported as well", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const agent = waitingAgent(world);
    await orphanedRun(world, agent.script);
    agent.letGo();
    await until("the container has ended", () =>
      leftovers(world).every((one) => !one.startsWith("container")),
    );
    expect((await succeed(world, ADOPT)).stdout).toContain("was adopted: its work is on agent/T1");
    await expectClean(world, before);
  });

  test("has what is left of its wall clock", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await orphanedRun(world, `echo half > half.txt; ${FOREVER}`, ["--wall-minutes", "0.1"]);
    const recovered = await succeed(world, ADOPT);
    expect(recovered.stdout).toContain(
      "was adopted, and ended: The agent was ended after 6 seconds.",
    );
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ state: "failed", failure: { code: "agent-wall-limit" } });
    expect(salvagedPatch(world, run?.id ?? "")).toContain("half.txt");
    await expectClean(world, before);
  });

  test("has its limit on the disk, counted from the snapshot as it was at first", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await orphanedRun(world, `head -c 3000000 /dev/urandom > big; ${FOREVER}`, ["--disk", "1m"]);
    await succeed(world, ADOPT);
    expect((await runsOf(world))[0]?.failure?.code).toBe("disk-limit");
    await expectClean(world, before);
  });

  test("is ended in order by Ctrl-C to who adopted it", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await orphanedRun(world, `echo half > half.txt; ${FOREVER}`);
    const { pid, ended } = await adopting(world);
    process.kill(pid, "SIGINT");
    expect((await ended).stdout).toContain("The run was interrupted while the agent worked");
    const [run] = await runsOf(world);
    expect(run?.state).toBe("interrupted");
    expect(salvagedPatch(world, run?.id ?? "")).toContain("half.txt");
    await expectClean(world, before);
  });

  test("is stopped by `guardloop stop`, which finds its new owner", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await orphanedRun(world, `echo half > half.txt; ${FOREVER}`);
    const { ended } = await adopting(world);
    const stopped = await succeed(world, ["stop", "@last"]);
    expect(stopped.stdout).toMatch(/was stopped by \S+ with `guardloop stop` while the agent/);
    await ended;
    await expectClean(world, before);
  });

  test("is adopted again when the one who adopted it died too", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const agent = waitingAgent(world);
    await orphanedRun(world, agent.script);
    const { pid, ended } = await adopting(world);
    process.kill(pid, "SIGKILL");
    await ended;
    const again = await adopting(world);
    agent.letGo();
    expect(ending(await again.ended)).toBe("exit 0");
    expect((await runsOf(world))[0]?.state).toBe("ready");
    await expectClean(world, before);
  });

  test("is not adopted after `stop --now`: it was to end", async () => {
    using world = makeWorld("docker");
    const env = { GUARD_ORPHANS: "adopt" };
    const running = world.run(`echo started; ${FOREVER}`);
    await until("the agent has started", () => agentLogs(world).includes("started"));
    const stopped = await succeed(world, ["stop", "@last", "--now"], { env });
    expect(stopped.stdout).toContain("stopped at once");
    await running;
    const { run } = await show(world);
    expect(run.state).toBe("interrupted");
    expect(dockerContainersOf(run.id)).toBe("");
  });
});

describe.each(["docker", "scripted-podman"] as const)("on %s, a container", (engine) => {
  test("is adopted, and goes on", async () => {
    using world = makeWorld(engine);
    const before = checkoutDigest(world);
    const go = join("$GUARDLOOP_ARTIFACTS", "go");
    await orphanedRun(
      world,
      `while [ ! -e "${go}" ]; do sleep 0.1; done; rm "${go}"; echo went on; ${GOOD_AGENT}`,
    );
    const { ended } = await adopting(world);
    const [running] = await runsOf(world);
    // Podman keeps no output: what is printed before somebody listens is lost.
    if (engine === "scripted-podman")
      await until("somebody listens", () =>
        world.dockerCalls().some(({ argv: [verb] }) => verb === "attach"),
      );
    writeFileSync(join(world.state, "runs", running?.id ?? "", "outbox/go"), "");
    expect(ending(await ended)).toBe("exit 0");
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ state: "ready", task: "T1" });
    expect(agentLogs(world)).toContain("went on");
    expect(engine === "docker" ? dockerContainersOf(run?.id ?? "") : "").toBe("");
    await expectClean(world, before);
  });
});
