import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type LeaseKind, leaseWorld, runArgs, stoppedAtEffect } from "../rig/effects.ts";
import { ASSIGNED_AGENT } from "../rig/several.ts";
import { type Ended, GOOD_AGENT, type World, leftovers, runsOf } from "../rig/world.ts";

/** The one worktree of the world's pool. */
function worktree(world: World): string {
  const registered = world.git("worktree", "list", "--porcelain").split("\n");
  const paths = registered
    .filter((line) => line.startsWith("worktree "))
    .map((line) => line.slice(9));
  return paths.find((path) => path.startsWith(world.state)) ?? "";
}

/** Takes a lease away behind guardloop's back: by removing its record, or with `treehouse return`. */
function takeAway(world: World, lease: LeaseKind): void {
  const path = worktree(world);
  if (lease === "builtin") {
    const records = join(dirname(path), ".lease");
    for (const name of readdirSync(records)) rmSync(join(records, name));
    return;
  }
  const program = join(world.bin, "treehouse");
  const options = { cwd: world.repo, env: world.env, stdio: "pipe" } as const;
  execFileSync(program, ["return", "--force", path], options);
}

/** Everything that a late process could have changed there. */
function contentOf(world: World): string {
  const path = worktree(world);
  const at = (...args: readonly string[]): string => world.git("-C", path, ...args);
  const files = readdirSync(path, { recursive: true }).map(String).toSorted();
  return [at("rev-parse", "HEAD"), at("ls-files", "--stage"), files.join("\n")].join("\n");
}

/** A second run that leases the same worktree at a later commit, and works until it is let go. */
async function secondRun(
  world: World,
  lease: LeaseKind,
): Promise<{ readonly letGo: () => Promise<Ended> }> {
  const go = join(world.root, "go");
  const script = `echo second is at work; while [ ! -e '${go}' ]; do sleep 0.05; done\n${ASSIGNED_AGENT}`;
  let over: Ended | undefined;
  const ended = world.guardloop(taking("T2", runArgs(lease, script)));
  void ended.then((how) => (over = how));
  const runs = join(world.state, "runs");
  const isAtWork = (): boolean =>
    readdirSync(runs).some((run) => {
      const log = join(runs, run, "agent.log");
      return existsSync(log) && readFileSync(log, "utf8").includes("second is at work");
    });
  while (!isAtWork()) {
    if (over !== undefined) throw new Error(`The second run did not begin: ${over.stderr}`);
    await delay(20);
  }
  return {
    async letGo() {
      writeFileSync(go, "");
      return ended;
    },
  };
}

/** The late run still claims its task; the other one needs one of its own. */
function taking(task: string, args: readonly string[]): readonly string[] {
  return [...args.slice(0, 1), "--task", task, ...args.slice(1)];
}

/** What gives the lease of the late run something to do; the worktree is known after a first run. */
type Before = (world: World) => void;

/** Its worktree has to be moved, and then to be cleaned. */
const elsewhereAndDirty: Before = (world) => {
  world.write("earlier.txt", "an earlier commit\n");
  world.commit("Earlier");
  leaveSomething(world);
};

function leaveSomething(world: World): void {
  writeFileSync(join(worktree(world), "stray.txt"), "left by somebody\n");
}

/** A run is stopped at the point, its lease goes to another one, and then it goes on. */
async function lateAt(lease: LeaseKind, point: string, before: Before) {
  const world = leaseWorld(lease);
  expect((await world.guardloop(runArgs(lease))).code).toBe(0);
  before(world);
  const late = await stoppedAtEffect(world, taking("T1", lateArgs(world, lease)), point);
  takeAway(world, lease);
  world.write("later.txt", "a later commit\n");
  world.commit("Later");
  const second = await secondRun(world, lease);
  const content = contentOf(world);
  const ended = await late.goOn();
  expect(contentOf(world)).toBe(content);
  expect(leftovers(world).filter((one) => one.startsWith("lease"))).toHaveLength(1);
  expect((await second.letGo()).code).toBe(0);
  expect(leftovers(world)).toEqual([]);
  return { world, ended };
}

/** While the agent of the late run works, somebody leaves a file in its worktree, which the return then cleans. */
function lateArgs(world: World, lease: LeaseKind): readonly string[] {
  const leave = `echo left by somebody > '${worktree(world)}/stray.txt'\n`;
  return runArgs(lease, lease === "builtin" ? `${leave}${GOOD_AGENT}` : GOOD_AGENT);
}

describe("a run that was stopped, and whose lease went to another one meanwhile,", () => {
  test.each([
    ["builtin", "before git read-tree#1", elsewhereAndDirty],
    ["builtin", "before git update-ref#1", elsewhereAndDirty],
    ["builtin", "before git read-tree#2", elsewhereAndDirty],
    ["builtin", "before git clean#1", elsewhereAndDirty],
    ["builtin", "before git read-tree#1", leaveSomething],
    ["builtin", "before journal stage-done lease#1", leaveSomething],
    ["treehouse", "before journal stage-done lease#1", () => undefined],
  ] as const)("neither writes there nor reads from it: %s, %s", async (lease, point, before) => {
    const { world, ended } = await lateAt(lease, point, before);
    using _ = world;
    expect(ended.output).toContain("was taken back while the run had it");
    expect(ended.code).toBe(1);
    const late = (await runsOf(world)).find((run) => run.failure?.code === "lease-lost");
    expect(late).toMatchObject({ state: "failed", branch: null });
  });

  test.each([
    ["builtin", "before rename /state/guardloop/worktrees/ID/1/.lease/ID.returning.json#1"],
    ["builtin", "before git clean#1"],
    ["builtin", "before rm /shop/.git/worktrees/shop/locked#1"],
    ["treehouse", "before treehouse return#1"],
  ] as const)("does not return it in the other's place: %s, %s", async (lease, point) => {
    const { world, ended } = await lateAt(lease, point, () => undefined);
    using _ = world;
    expect(ended.output).toContain("ready: agent/");
    expect(ended.code).toBe(0);
  });
});
