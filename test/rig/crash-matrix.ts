import { afterAll, expect, test } from "vitest";
import { expectCleanAfterCrash, loseHistory, workOf } from "./aftermath.ts";
import { copiedAtEffects } from "./crash-copies.ts";
import {
  type LeaseKind,
  chosen,
  crashPoints,
  killedAtEffect,
  leaseWorld,
  oneIn,
  runArgs,
} from "./effects.ts";
import { type World, checkoutDigest } from "./world.ts";

interface Matrix {
  /** How many points the run had when this was written: fewer means that some are not seen any more. */
  readonly atLeast: number;
  readonly journalWrites: number;
  /** Which of them are tried: those around what this lease does differently. */
  readonly journal: RegExp;
  /** One in so many of the points before other effects, and of those while a program works. */
  readonly strides: { readonly before: number; readonly during: number };
}

/** What comes after the crash. */
type Turn = "recover" | "recover without the history" | "the next run";
/** In two of four cases `recover`. */
const TURNS: readonly Turn[] = [
  "recover",
  "recover without the history",
  "recover",
  "the next run",
];

/**
 * Kills a run that ends well at its points, and recovers. Before an effect, a copy of the world stands for the kill;
 * while a program works, guardloop gets SIGKILL in a world of its own. The sample has the journal writes, since what
 * `recover` does depends on them, and an even spread of the rest, in which neighbours differ in a file at most.
 */
export async function matrixOf(lease: LeaseKind, matrix: Matrix): Promise<void> {
  const world = leaseWorld(lease);
  const before = checkoutDigest(world);
  const copies = await copiedAtEffects(world, runArgs(lease));
  // In a fresh world, so that the first lease of a pool is among them.
  const points = crashPoints(copies.points.map((point) => point.replace(/^before /, "")));
  const isJournal = (point: string): boolean => point.startsWith("before journal");
  // Once its container has run, the guest has exported, whatever becomes of guardloop.
  const ran = points.findIndex((one) => /^during docker run \S+-agent#/.test(one));
  const isWorkDone = (point: string): boolean => points.indexOf(point) >= ran;

  afterAll(() => {
    copies[Symbol.dispose]();
    world[Symbol.dispose]();
  });

  test("has as many points as it had", () => {
    expect(points.length).toBeGreaterThanOrEqual(matrix.atLeast);
    expect(points.filter(isJournal).length).toBe(matrix.journalWrites);
    expect(new Set(points).size).toBe(points.length);
  });

  const { journal, strides } = matrix;
  const copied = chosen(copies.points, (all) => {
    const others = all.filter((point) => !isJournal(point));
    const spread = new Set(oneIn(strides.before, others, 1));
    return all.filter((point) => spread.has(point) || (isJournal(point) && journal.test(point)));
  });
  test.each(
    copied.map((point, index) => [point, TURNS[index % TURNS.length] ?? "recover"] as const),
  )("%s, then %s", async (point, turn) => {
    copies.restore(point);
    const work = await survived(world, { lease, before, turn });
    expect(work !== "none").toBe(isWorkDone(point));
  });

  const during = points.filter((point) => point.startsWith("during"));
  test.each(chosen(during, (all) => oneIn(strides.during, all, 2)))(
    "%s, then recover",
    async (point) => {
      using fresh = leaseWorld(lease);
      const clean = checkoutDigest(fresh);
      await killedAtEffect(fresh, runArgs(lease), point);
      const work = await survived(fresh, { lease, before: clean, turn: "recover" });
      expect(work !== "none").toBe(isWorkDone(point));
    },
  );
}

/** Takes the turn, looks for what it left, and tells where the work of the killed run is. */
async function survived(
  world: World,
  crash: { readonly lease: LeaseKind; readonly before: string; readonly turn: Turn },
): Promise<ReturnType<typeof workOf>> {
  const { lease, turn } = crash;
  if (turn === "recover without the history") loseHistory(world);
  const isNextRun = turn === "the next run";
  const ended = await world.guardloop(isNextRun ? runArgs(lease) : ["recover"]);
  expect(ended.stderr).not.toContain("    at ");
  expect(ended.code).toBe(0);
  const runs = await expectCleanAfterCrash(world, crash.before);
  const [killed, next] = isNextRun ? [runs[1], runs[0]] : [runs[0], undefined];
  expect(!isNextRun || workOf(world, next) === "branch").toBe(true);
  const again = await world.guardloop(["recover"]);
  expect(again.stdout).toBe("Nothing to recover.\n");
  return workOf(world, killed);
}
