import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { unfinishedFiles } from "../rig/aftermath.ts";
import { type Copies, copiedAtEffects } from "../rig/crash-copies.ts";
import { chosen, oneIn } from "../rig/effects.ts";
import { type ShownRun, readyRun, show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, leftovers, makeWorld } from "../rig/world.ts";

/** A command of a person about a run, with every point at which it can be killed. */
interface Decision {
  readonly name: string;
  readonly args: readonly string[];
  readonly world: World;
  readonly copies: Copies;
  /** How many points it had when this was written: fewer means that some are not seen any more. */
  readonly atLeast: number;
  /** The run's state before the command, and after it. */
  readonly from: string;
  readonly to: string;
}

async function decision(
  world: World,
  args: readonly string[],
  expected: Pick<Decision, "name" | "atLeast" | "to">,
): Promise<Decision> {
  const from = (await show(world)).run.state;
  return { ...expected, args, world, from, copies: await copiedAtEffects(world, args) };
}

/** Each is made where the one before left the world. */
async function decisions(world: World): Promise<readonly Decision[]> {
  await readyRun(world);
  const discarded = await decision(world, ["discard", "@last"], {
    name: "discard",
    atLeast: 6,
    to: "discarded",
  });
  const restored = await decision(world, ["restore", "@last"], {
    name: "restore",
    atLeast: 6,
    to: "ready",
  });
  const promoted = await decision(world, ["promote", "@last"], {
    name: "promote",
    atLeast: 6,
    to: "promoted",
  });
  const rolledBack = await decision(world, ["rollback", "@last"], {
    name: "rollback",
    atLeast: 6,
    to: "rolled-back",
  });
  return [discarded, restored, promoted, rolledBack];
}

async function rebase(world: World): Promise<Decision> {
  await readyRun(world);
  world.write("mine.txt", "mine\n");
  world.commit("Mine");
  return decision(world, ["promote", "@last", "--rebase"], {
    name: "promote --rebase",
    atLeast: 12,
    to: "promoted",
  });
}

/** The agent said all but what its commit is to be called. */
async function salvaged(world: World): Promise<Decision> {
  await world.run(`${GOOD_AGENT}\nrm "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`);
  return decision(world, ["salvage", "@last", "--message", "Do T1"], {
    name: "salvage",
    atLeast: 40,
    to: "ready",
  });
}

const WORLDS = [makeWorld(), makeWorld(), makeWorld()] as const;
const DECISIONS = [
  ...(await decisions(WORLDS[0])),
  await rebase(WORLDS[1]),
  await salvaged(WORLDS[2]),
];

afterAll(() => {
  for (const { copies } of DECISIONS) copies[Symbol.dispose]();
  for (const world of WORLDS) world[Symbol.dispose]();
});

/** Nothing of the attempt is left, and the user's repository is whole. */
function expectTidy(world: World, runId: string): void {
  expect(leftovers(world)).toEqual([]);
  expect(unfinishedFiles(world)).toEqual([]);
  expect(existsSync(join(world.state, "runs", runId, "landing.git"))).toBe(false);
  expect(world.git("status", "--porcelain")).toBe("");
  execFileSync("git", ["fsck", "--strict"], { cwd: world.repo, env: world.env, stdio: "pipe" });
}

/** Where the work of the run's task is: on its branch or with the dropped ones, and in the checkout once promoted. */
function expectWhereItBelongs(world: World, { state, id }: ShownRun["run"]): void {
  const inCheckout = existsSync(join(world.repo, "T1.txt"));
  const branches = world.git("for-each-ref", "--format=%(refname)", "refs/heads/agent");
  const dropped = world.git("for-each-ref", "--format=%(refname)", "refs/guardloop");
  expect({ inCheckout, branch: branches.includes(id), dropped: dropped.includes(id) }).toEqual({
    inCheckout: state === "promoted",
    branch: state !== "discarded",
    dropped: state === "discarded",
  });
}

const headsOf = (world: World): string => world.git("for-each-ref", "--format=%(refname) %(tree)");

/** An even spread, and for short commands every point at which a decision becomes so, in Git or on record. */
function sampleOf(points: readonly string[], offset: number): readonly string[] {
  if (points.length > 30) return oneIn(16, points, offset);
  const spread = new Set(oneIn(8, points, offset));
  const isDeciding = (point: string): boolean => /update-ref|journal run-/.test(point);
  return points.filter((point) => spread.has(point) || isDeciding(point));
}

describe.each(DECISIONS.map((one, index) => ({ ...one, index })))(
  "guardloop $name",
  ({ world, copies, args, from, to, atLeast, index }) => {
    test("has as many points as it had", () => {
      expect(copies.points.length).toBeGreaterThanOrEqual(atLeast);
    });

    test.each(chosen(copies.points, (all) => sampleOf(all, index)))(
      "killed %s: it happened or it did not, and can be done",
      async (point) => {
        copies.restoreStart();
        const start = headsOf(world);
        copies.restore(point);
        const recovered = await world.guardloop(["recover"]);
        expect(recovered.stderr).not.toContain("    at ");
        expect(recovered.code).toBe(0);
        const { run } = await show(world);
        expect([from, to]).toContain(run.state);
        expectTidy(world, run.id);
        const didNotHappen = run.state === from;
        expect(!didNotHappen || headsOf(world) === start).toBe(true);
        if (didNotHappen) await succeed(world, args);
        const after = await show(world);
        expect(after.run.state).toBe(to);
        expectWhereItBelongs(world, after.run);
        expectTidy(world, run.id);
      },
    );
  },
);
