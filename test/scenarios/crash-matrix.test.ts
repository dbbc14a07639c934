import { describe, expect, test } from "vitest";
import { expectCleanAfterCrash, loseHistory, workOf } from "../rig/aftermath.ts";
import {
  LEASES,
  type LeaseKind,
  crashPoints,
  effectsOf,
  killedAtEffect,
  leaseWorld,
  runArgs,
  sampled,
} from "../rig/effects.ts";
import { type World, checkoutDigest } from "../rig/world.ts";

/** Every point of a run that ends well, in a fresh world, so that the first lease of a pool is among them. */
async function pointsOfRun(lease: LeaseKind): Promise<readonly string[]> {
  using world = leaseWorld(lease);
  return crashPoints(await effectsOf(world, runArgs(lease)));
}

const POINTS: Readonly<Record<LeaseKind, readonly string[]>> = {
  builtin: await pointsOfRun("builtin"),
  treehouse: await pointsOfRun("treehouse"),
};

/** From here on the guest has exported, whatever becomes of guardloop. */
function isWorkDone(lease: LeaseKind, point: string): boolean {
  const ran = POINTS[lease].findIndex((one) => /^during docker run \S+-agent#/.test(one));
  return POINTS[lease].indexOf(point) >= ran;
}

async function recover(world: World): Promise<string> {
  const ended = await world.guardloop(["recover"]);
  expect(ended.stderr).not.toContain("    at ");
  expect(ended.code).toBe(0);
  return ended.stdout;
}

test.each([
  ["builtin", 175],
  ["treehouse", 155],
] as const)("a run with a lease of %s has as many points as it had", (lease, atLeast) => {
  expect(POINTS[lease].length).toBeGreaterThanOrEqual(atLeast);
  expect(POINTS[lease].filter((point) => point.startsWith("before journal")).length).toBe(21);
  expect(new Set(POINTS[lease]).size).toBe(POINTS[lease].length);
});

describe.each(LEASES)("with a lease of %s, guardloop is killed", (lease) => {
  // One in two is looked at after `recover`, the others after the next run, which recovers by itself.
  const chosen = sampled(POINTS[lease], lease === "builtin" ? 8 : 12);

  test.concurrent.each(chosen.map((point, index) => [point, index % 2] as const))(
    "%s",
    async (point, turn) => {
      using world = leaseWorld(lease);
      const before = checkoutDigest(world);
      await killedAtEffect(world, runArgs(lease), point);
      const ended = await world.guardloop(turn === 0 ? ["recover"] : runArgs(lease));
      expect(ended.stderr).not.toContain("    at ");
      expect(ended.code).toBe(0);
      const runs = await expectCleanAfterCrash(world, before);
      const [killed, next] = turn === 0 ? [runs[0], undefined] : [runs[1], runs[0]];
      expect(workOf(world, killed) !== "none").toBe(isWorkDone(lease, point));
      expect(turn === 0 || workOf(world, next) === "branch").toBe(true);
      expect(await recover(world)).toBe("Nothing to recover.\n");
    },
  );
});

describe("the history is lost with it, after guardloop is killed", () => {
  const journal = POINTS.builtin.filter((point) => point.startsWith("before journal"));

  test.concurrent.each(journal.filter((_, index) => index % 3 === 0))("%s", async (point) => {
    using world = leaseWorld("builtin");
    const before = checkoutDigest(world);
    await killedAtEffect(world, runArgs("builtin"), point);
    loseHistory(world);
    await recover(world);
    const [run] = await expectCleanAfterCrash(world, before);
    expect(workOf(world, run) !== "none").toBe(isWorkDone("builtin", point));
    expect(await recover(world)).toBe("Nothing to recover.\n");
  });
});
