import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { headOf, show, succeed } from "../rig/lifecycle.ts";
import {
  type EngineKind,
  GOOD_AGENT,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";
import { differences } from "./expected-posture.ts";
import { type Probed, probeByRun } from "./probed-run.ts";

export interface Promised {
  readonly kind: Exclude<EngineKind, "scripted" | "scripted-podman">;
  /** The client to ask for what is left. */
  readonly client: "docker" | "podman";
  /** The `engine` of the run's record. */
  readonly engine: Readonly<Record<string, unknown>>;
  /** Parts of the posture that cannot be seen from inside; documented in docs/engines.md, one by one. */
  readonly unseen: readonly string[];
  /** What ends when memory or processes are at their limit: the program that wants more, or the whole container. */
  readonly atLimit: "program" | "container";
  /** `limits`: the rest is shown for this engine by the scenarios of test/scenarios. */
  readonly extent: "all" | "limits";
}

/** What guardloop promises on every engine; run against each real one, with as few runs as will do. */
export function engineContract(promised: Promised): void {
  describe(`the contract on ${promised.kind}`, () => {
    if (promised.extent === "all") {
      probedRun(promised);
      endings(promised);
    }
    limits(promised);
    crash(promised);
    test("nothing of these tests is left in the engine", () => {
      expect(containersLeft(promised.client)).not.toMatch(/guardloop-\d{6}-\S+-(agent|salvage)/);
    });
  });
}

function probedRun(promised: Promised): void {
  let world: World;
  let probed: Probed;
  let before = "";
  beforeAll(async () => {
    world = makeWorld(promised.kind);
    probed = await probeByRun(world);
    before = headOf(world);
  }, 240_000);
  afterAll(() => world[Symbol.dispose]());

  test("the posture is the one that was agreed, but for what cannot be seen from inside", () => {
    expect(differences(probed.posture, probed.agreed).toSorted()).toEqual(
      promised.unseen.toSorted(),
    );
  });

  test("of the host it sees nothing but its own run", () => {
    const all = JSON.stringify(probed.posture);
    for (const secret of [world.repo, join(world.state, "worktrees"), "docker.sock", "s3cr3t"])
      expect(all).not.toContain(secret);
  });

  test("a task goes all the way and back: review, promote, rollback", async () => {
    const reviewed = await succeed(world, ["review", "@last"]);
    expect(reviewed.stdout).toContain("+work on T1");
    await succeed(world, ["promote", "@last"]);
    expect(headOf(world)).toBe((await show(world)).run.head);
    await succeed(world, ["rollback", "@last"]);
    expect(headOf(world)).toBe(before);
    expect(world.git("status", "--porcelain")).toBe("");
    expect(leftovers(world)).toEqual([]);
  });

  test("the record, `show` and the argv name the engine and the runtime", async () => {
    expect(await show(world)).toMatchObject({ engine: promised.engine });
    const shown = await succeed(world, ["show", "@last"]);
    expect(shown.stdout).toContain(
      `Engine      ${String(promised.engine["kind"])} ${String(probedVersion(world, probed))}`,
    );
    expect(probed.argv[0]).toMatch(new RegExp(`/${promised.client}$`));
  });
}

function probedVersion(world: World, { runId }: Probed): unknown {
  const text = readFileSync(join(world.state, "runs", runId, "spec.json"), "utf8");
  return (JSON.parse(text) as { engine: { version: string } }).engine.version;
}

const AT_LIMIT = {
  program: { whatIsBeside: "goes on", run: "ready", limitNamed: false },
  container: { whatIsBeside: "ends", run: "agent-killed", limitNamed: true },
} as const;

function limits({ kind, atLimit }: Promised): void {
  const hog = `node -e 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))'`;
  // In a subshell, which is what a failed fork ends.
  const flood = "(for i in $(seq 600); do sleep 5 & done; echo all were started)";
  test.each([
    ["processes", flood],
    ["memory", hog],
  ])("beyond its limit of %s nothing goes, and nothing that was done is lost", async (_, more) => {
    using world = makeWorld(kind);
    const script = `${GOOD_AGENT}\n${more}; echo beside; true`;
    const ended = await world.run(script, ["--memory", "512m", "--pids", "200"]);
    const run = await onlyRun(world);
    const log = readFileSync(join(world.state, "runs", run?.id ?? "", "agent.log"), "utf8");
    expect(log).not.toContain("all were started");
    expect({
      whatIsBeside: log.includes("beside") ? "goes on" : "ends",
      run: run?.failure?.code ?? run?.state,
      limitNamed: ended.stderr.includes("at its memory limit of 512 MiB, at its limit of 200 proc"),
      work: run?.branch === null ? await salvaged(world) : world.git("show", run?.branch ?? ""),
    }).toEqual({ ...AT_LIMIT[atLimit], work: expect.stringContaining("work on T1") });
    expect(leftovers(world)).toEqual([]);
  });
}

function endings({ kind }: Promised): void {
  test("over the wall limit it is ended, and what was done is salvaged", async () => {
    using world = makeWorld(kind);
    const ended = await world.run("echo half > half.txt; sleep 120", ["--wall-minutes", "0.1"]);
    expect(ended.code).toBe(1);
    expect(await onlyRun(world)).toMatchObject({ failure: { code: "agent-wall-limit" } });
    expect(await salvaged(world)).toContain("half.txt");
    expect(leftovers(world)).toEqual([]);
  });

  test("Ctrl-C ends it in order, and what was done is salvaged", async () => {
    using world = makeWorld(kind);
    const { running, pid } = await startedRun(world);
    process.kill(pid, "SIGINT");
    expect((await running).code).toBe(130);
    expect(await onlyRun(world)).toMatchObject({ state: "interrupted" });
    expect(await salvaged(world)).toContain("half.txt");
    expect(leftovers(world)).toEqual([]);
  });
}

function crash({ kind, client }: Promised): void {
  test("a container that outlives its killed owner is ended by `recover`, and its work salvaged", async () => {
    using world = makeWorld(kind);
    const before = checkoutDigest(world);
    const { running, pid } = await startedRun(world);
    process.kill(pid, "SIGKILL");
    await running;
    const run = (await onlyRun(world))?.id ?? "";
    expect(containersLeft(client)).toContain(`guardloop-${run}-agent`);
    await succeed(world, ["recover"]);
    expect(containersLeft(client)).not.toContain(run);
    expect(await onlyRun(world)).toMatchObject({ state: "interrupted" });
    expect(await salvaged(world)).toContain("half.txt");
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
    expect((await succeed(world, ["recover"])).stdout).toBe("Nothing to recover.\n");
  });
}

async function onlyRun(world: World) {
  const runs = await runsOf(world);
  expect(runs).toHaveLength(1);
  return runs[0];
}

/** The text of what was salvaged of the world's only run. */
async function salvaged(world: World): Promise<string> {
  const directory = join(world.state, "runs", (await onlyRun(world))?.id ?? "", "salvage/patches");
  return readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), "utf8"))
    .join("\n");
}

/** A run whose agent has begun, and goes on until it is ended. */
async function startedRun(world: World) {
  let pid = 0;
  const running = world.run("echo half > half.txt; echo started; sleep 120", [], {
    onStart: (started) => (pid = started),
  });
  const runs = join(world.state, "runs");
  const hasStarted = (): boolean =>
    (existsSync(runs) ? readdirSync(runs) : []).some((run) => {
      const log = join(runs, run, "agent.log");
      return existsSync(log) && readFileSync(log, "utf8").includes("started");
    });
  for (let attempt = 0; !hasStarted(); attempt += 1) {
    if (attempt > 2_400) throw new Error("the agent never started");
    await delay(50);
  }
  return { running, pid };
}

function containersLeft(client: "docker" | "podman"): string {
  return execFileSync(client, ["ps", "-a", "--format={{.Names}}"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}
