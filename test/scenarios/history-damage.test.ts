import { readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectRecovered, killedWhile } from "../rig/crash.ts";
import { ending, refuse, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, checkoutDigest, makeWorld, runsOf } from "../rig/world.ts";

const PAGE_BYTES = 4096;

const historyPath = (world: World): string => join(world.state, "history.db");

function damagePage(bytes: Buffer, page: number): Buffer {
  return Buffer.from(bytes).fill(0xff, (page - 1) * PAGE_BYTES, page * PAGE_BYTES);
}

/** Databases that were kept aside, without their logs. */
function keptAside(world: World): readonly string[] {
  return readdirSync(world.state).filter((name) => /damaged-[^.]*Z$/.test(name));
}

/** Replaces the bytes; an hour ago, as far as the file tells. */
function overwrite(path: string, bytes: Buffer): void {
  writeFileSync(path, bytes);
  const hourAgo = new Date(Date.now() - 60 * 60_000);
  utimesSync(path, hourAgo, hourAgo);
}

const DAMAGE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  "an overwritten header": (bytes) => Buffer.from(bytes).fill(0, 0, 100),
  "an overwritten page that every answer needs": (bytes) => damagePage(bytes, 2),
  "nothing but its first half": (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2)),
  "nothing in it at all": () => Buffer.alloc(0),
};

describe.concurrent.each(Object.entries(DAMAGE))("a history with %s", (_name, damage) => {
  test("is refused by every command in one sentence, and `recover` rebuilds it", async () => {
    using world = makeWorld();
    expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
    const [before] = await runsOf(world);
    const damaged = damage(readFileSync(historyPath(world)));
    overwrite(historyPath(world), damaged);
    for (const command of [
      ["runs"],
      ["show", "@last"],
      ["review", "@last"],
      ["promote", "@last"],
      ["discard", "@last"],
      ["gc"],
      ["run", "--agent", "command", "--", "sh", "-c", GOOD_AGENT],
    ]) {
      const { message, cure } = await refuse(world, command, { code: "history-damaged" });
      expect(message).toMatch(/^[^\n]* is damaged[^\n]*\.$/);
      expect(cure).toContain("`guardloop recover`");
    }
    const doctor = await world.guardloop(["doctor"]);
    expect(doctor.stdout).toContain("history.db is damaged: ");
    expect(doctor.stdout).not.toContain("***");
    expect(readFileSync(historyPath(world))).toEqual(damaged);
    const recovered = await succeed(world, ["recover"]);
    expect(recovered.stdout).toContain("The damaged history is kept as ");
    const [aside = ""] = keptAside(world);
    expect(readFileSync(join(world.state, aside))).toEqual(damaged);
    expect(await runsOf(world)).toEqual([{ ...before, endedAt: expect.any(String) }]);
    await succeed(world, ["promote", "@last"]);
  });
});

test("damage in any page is found by `recover`, whether or not an answer had needed it", async () => {
  using world = makeWorld();
  expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
  const whole = readFileSync(historyPath(world));
  const [before] = await runsOf(world);
  const pages = whole.length / PAGE_BYTES;
  expect(pages).toBeGreaterThan(5);
  for (let page = 2, count = 1; page <= pages; page += 3, count += 1) {
    overwrite(historyPath(world), damagePage(whole, page));
    const recovered = await succeed(world, ["recover"]);
    expect(`page ${page}: ${recovered.stdout}`).toContain("The damaged history is kept as ");
    expect(keptAside(world)).toHaveLength(count);
    expect(await runsOf(world)).toEqual([{ ...before, endedAt: expect.any(String) }]);
  }
});

describe.concurrent("a log of the history, left by a run that was killed, with", () => {
  const half = (bytes: Buffer): number => Math.floor(bytes.length / 2);
  const LOG_DAMAGE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    "an overwritten header": (bytes) => Buffer.from(bytes).fill(0xff, 0, 32),
    "its second half overwritten": (bytes) => Buffer.from(bytes).fill(0xff, half(bytes)),
    "nothing but its first half": (bytes) => bytes.subarray(0, half(bytes)),
  };

  // What SQLite cannot read of a log it takes for never written, so the history is older, and is no damaged one.
  test.each(Object.entries(LOG_DAMAGE))(
    "%s: recovery goes by the directories, and no work is lost",
    async (_name, damage) => {
      using world = makeWorld();
      const before = checkoutDigest(world);
      await killedWhile(world, "echo half > half.txt; echo started; sleep 120");
      const log = `${historyPath(world)}-wal`;
      const bytes = readFileSync(log);
      expect(bytes.length).toBeGreaterThan(PAGE_BYTES);
      writeFileSync(log, damage(bytes));
      await succeed(world, ["recover"]);
      const [run] = await runsOf(world);
      expect(run?.state).toBe("interrupted");
      const patches = join(world.state, "runs", run?.id ?? "", "salvage/patches");
      expect(readFileSync(join(patches, readdirSync(patches)[0] ?? ""), "utf8")).toContain("half");
      await expectRecovered(world, before);
    },
  );
});

test("several recoveries at once on a damaged history: the new one is never put aside", async () => {
  using world = makeWorld();
  expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
  const [before] = await runsOf(world);
  overwrite(historyPath(world), damagePage(readFileSync(historyPath(world)), 2));
  const all = await Promise.all(
    [["recover"], ["doctor", "--fix"], ["recover"], ["recover"]].map((args) =>
      world.guardloop(args),
    ),
  );
  for (const { stderr } of all) expect(stderr).not.toContain("    at ");
  await succeed(world, ["recover"]);
  expect(keptAside(world)).toHaveLength(1);
  expect(await runsOf(world)).toEqual([{ ...before, endedAt: expect.any(String) }]);
});
