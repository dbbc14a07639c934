import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { vouchedTime } from "../../src/run/house/vouched-time.ts";
import { openHistory } from "../../src/history/sqlite.ts";
import { clockFile, setClock, wrongClock } from "../rig/clock.ts";
import { killedWhile } from "../rig/crash.ts";
import { keptRun } from "../rig/house.ts";
import { ending, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, leftovers, makeWorld, runsOf } from "../rig/world.ts";

const DAY_MS = 24 * 60 * 60_000;
/** A length of time that somebody could read as less than nothing. */
const NEGATIVE = /-\d+(\.\d+)? ?(s|min|h|d|ms)\b/;

/** The clock jumps while the agent works, and the agent then waits for the file `go`. */
function jumping(world: World, byMs: number): string {
  const go = join(world.root, "go");
  const jump = `echo ${byMs} > "${clockFile(world)}"; touch "${join(world.root, "jumped")}"`;
  return `${jump}; while [ ! -e "${go}" ]; do sleep 0.1; done\n${GOOD_AGENT}`;
}

async function jumped(world: World): Promise<void> {
  while (!existsSync(join(world.root, "jumped"))) await delay(25);
}

describe.each([
  ["forward", DAY_MS],
  ["back", -DAY_MS],
])("a clock that is set %s by a day while the agent works", (_direction, byMs) => {
  test("ends no run, and no time that is shown is negative", async () => {
    using world = makeWorld();
    const env = wrongClock(world);
    const ran = world.run(jumping(world, byMs), [], { env });
    await jumped(world);
    const watching = world.guardloop(["watch", "--json"], {
      env,
      onStdout: () => writeFileSync(join(world.root, "go"), ""),
    });
    const ended = await ran;
    expect(ending(ended)).toBe("exit 0");
    const views = (await watching).stdout;
    expect(views).toContain('"stage":"agent"');
    expect(views).not.toMatch(/Ms":-/);
    const told = [
      ended.stderr,
      ended.stdout,
      ...(await Promise.all(
        [["runs"], ["show", "@last"], ["review", "@last"], ["watch", "@last"]].map(
          async (args) => (await succeed(world, args, { env })).stdout,
        ),
      )),
    ];
    expect(told.join("\n")).not.toMatch(NEGATIVE);
    expect(leftovers(world)).toEqual([]);
  });

  test("leaves runs in the order in which they were made, and promotion as it is", async () => {
    using world = makeWorld();
    expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
    setClock(world, byMs);
    const env = wrongClock(world);
    expect(ending(await world.run(GOOD_AGENT, [], { env }))).toBe("exit 0");
    const [second, first] = await runsOf(world);
    expect(second?.id.slice(0, 6)).not.toBe(first?.id.slice(0, 6));
    const newest = JSON.parse((await succeed(world, ["show", "@last", "--json"])).stdout);
    expect(newest.run.id).toBe(second?.id);
    await succeed(world, ["promote", first?.id ?? ""], { env });
    expect(world.git("rev-parse", "HEAD")).toBe(first?.head);
  });
});

test("an agent that is adopted after the clock was set back has no more time than it had", async () => {
  using world = makeWorld();
  world.env.GUARD_WALL_MINUTES = "0.2";
  await killedWhile(world, "echo half > half.txt; echo started; sleep 120");
  setClock(world, -DAY_MS);
  const recovered = await world.guardloop(["recover", "--orphans", "adopt"], {
    env: wrongClock(world),
  });
  expect(recovered.stdout).toContain("was adopted, and ended: The agent was ended after");
  expect(leftovers(world)).toEqual([]);
});

describe("a clock that is weeks ahead", () => {
  test("removes no kept snapshot by itself, neither at recovery nor after a run", async () => {
    using world = makeWorld();
    const { id, kept } = await keptRun(world, "echo half > half.txt");
    setClock(world, 30 * DAY_MS);
    const env = wrongClock(world);
    const recovered = await succeed(world, ["recover"], { env });
    expect(recovered.stdout).toBe("Nothing to recover.\n");
    expect(ending(await world.run(GOOD_AGENT, [], { env }))).toBe("exit 0");
    expect(existsSync(join(kept?.path ?? "", "half.txt"))).toBe(true);
    // A day later it is still that time: the clock was right, and the days are over.
    setClock(world, 32 * DAY_MS);
    const later = await succeed(world, ["recover"], { env });
    expect(later.stdout).toContain(`Removed the left-over snapshot of run ${id}.`);
    expect(existsSync(kept?.path ?? "")).toBe(false);
  });

  test("is believed at once where the history was written in a week ago, or never", () => {
    using world = makeWorld();
    const now = new Date("2026-11-30T12:00:00Z");
    const vouched = (daysAgo: readonly number[]): Date => {
      const last = daysAgo.map((days) => new Date(now.getTime() - days * DAY_MS));
      const lastEventUntil = (time: Date): Date | undefined =>
        last.findLast((at) => at <= time) ?? last[0];
      return vouchedTime({ lastEventUntil }, now);
    };
    expect(vouched([])).toEqual(now);
    expect(vouched([0])).toEqual(now);
    expect(vouched([90, 6, 0])).toEqual(now);
    expect(vouched([90, 0])).toEqual(new Date(now.getTime() - 83 * DAY_MS));
    expect(vouched([90, 1, 0])).toEqual(now);
    const history = openHistory(world.root, () => now);
    if (!history.ok) throw new Error("no history");
    using open = history.value;
    expect(open.lastEventUntil(now)).toBeUndefined();
  });
});
