import { afterAll, describe, expect, test } from "vitest";
import { expectCleanAfterCrash, loseHistory, workOf } from "../rig/aftermath.ts";
import { type Copies, copiedAtEffects } from "../rig/crash-copies.ts";
import { killedWhile } from "../rig/crash.ts";
import { chosen, leaseWorld, leftAtEffect, oneIn, runArgs } from "../rig/effects.ts";
import { type World, checkoutDigest, makeWorld } from "../rig/world.ts";

/** A run that was killed, with every point at which the recovery from it can be killed in turn. */
interface Killed {
  readonly name: string;
  readonly world: World;
  readonly recovery: Copies;
  /** How many points the recovery had when this was written: fewer means that some are not seen any more. */
  readonly atLeast: number;
  /** Where the finished work is after the recovery. */
  readonly work: "branch" | "patches";
}

const RUN = {
  builtin: await killedRun(
    "builtin",
    /^(journal stage-intent import|git update-ref|rm .*\/locked)#/,
  ),
  treehouse: await killedRun("treehouse", /^treehouse return#/),
};

async function killedRun(lease: "builtin" | "treehouse", at: RegExp) {
  const world = leaseWorld(lease);
  const before = checkoutDigest(world);
  return { world, before, run: await copiedAtEffects(world, runArgs(lease), { at }) };
}

async function killed(
  lease: keyof typeof RUN,
  point: string,
  expected: Pick<Killed, "name" | "atLeast"> & { readonly history?: "lost" },
): Promise<Killed> {
  const { world, run } = RUN[lease];
  run.restore(point);
  if (expected.history === "lost") loseHistory(world);
  const recovery = await copiedAtEffects(world, ["recover"]);
  const work = expected.history === "lost" ? "patches" : "branch";
  return { ...expected, world, recovery, work };
}

const KILLED = [
  await killed("builtin", "before journal stage-intent import#1", {
    name: "after its artifacts were collected",
    atLeast: 62,
  }),
  await killed("builtin", "before git update-ref#1", { name: "in its import", atLeast: 62 }),
  await killed("builtin", "before rm /shop/.git/worktrees/shop/locked#1", {
    name: "in its release",
    atLeast: 30,
  }),
  await killed("treehouse", "before treehouse return#1", {
    name: "in its release of a worktree of treehouse",
    atLeast: 30,
  }),
  await killed("builtin", "before journal stage-intent import#1", {
    name: "after its artifacts were collected, and the history with it",
    atLeast: 35,
    history: "lost",
  }),
];

afterAll(() => {
  for (const { recovery } of KILLED) recovery[Symbol.dispose]();
  for (const { run, world } of Object.values(RUN)) {
    run[Symbol.dispose]();
    world[Symbol.dispose]();
  }
});

/** The next recovery ends what the killed one had begun. */
async function expectRecovered(world: World, before: string) {
  const ended = await world.guardloop(["recover"]);
  expect(ended.stderr).not.toContain("    at ");
  expect(ended.code).toBe(0);
  return expectCleanAfterCrash(world, before);
}

describe.each(KILLED.map((one, index) => ({ ...one, index })))(
  "of a run that was killed $name, the recovery",
  ({ world, recovery, work, atLeast, index }) => {
    const { before } = Object.values(RUN).find((one) => one.world === world) ?? { before: "" };

    test("has as many points as it had", () => {
      expect(recovery.points.length).toBeGreaterThanOrEqual(atLeast);
      expect(new Set(recovery.points).size).toBe(recovery.points.length);
    });

    // Not the same ones in each.
    test.each(chosen(recovery.points, (all) => oneIn(18, all, index * 3)))(
      "is killed %s",
      async (point) => {
        recovery.restore(point);
        const runs = await expectRecovered(world, before);
        expect(runs).toHaveLength(1);
        expect(workOf(world, runs[0])).toBe(work);
        const again = await world.guardloop(["recover"]);
        expect(again.stdout).toBe("Nothing to recover.\n");
      },
    );
  },
);

describe("of a run that was killed while its agent worked, the recovery", () => {
  test.each([
    "before docker rm#1",
    "during docker rm#1",
    "during docker run guardloop-RUN-salvage#1",
    "before journal salvaged#1",
  ])("is killed %s", async (point) => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await killedWhile(world, "echo half > half.txt; echo started; sleep 120");
    await leftAtEffect(world, ["recover"], point);
    const [run] = await expectRecovered(world, before);
    expect(run).toMatchObject({ state: "interrupted", branch: null });
    expect(workOf(world, run)).toBe("patches");
  });
});
