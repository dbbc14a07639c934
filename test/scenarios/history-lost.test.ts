import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { MIGRATIONS } from "../../src/history/migrations.ts";
import { loseHistory } from "../rig/aftermath.ts";
import { expectRecovered, killedAt, killedWhile } from "../rig/crash.ts";
import { refuse, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, checkoutDigest, makeWorld, runsOf } from "../rig/world.ts";

/** Sets the database's version, as a newer guardloop would. */
function setVersion(world: World, version: number): void {
  const database = new Database(join(world.state, "history.db"));
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
}

describe("the history is gone, and `recover` finds by the directories", () => {
  test("a ready run with its branch: it can be reviewed and promoted as before", async () => {
    using world = makeWorld();
    expect((await world.run(GOOD_AGENT)).code).toBe(0);
    const [before] = await runsOf(world);
    loseHistory(world);
    const recovered = await succeed(world, ["recover"]);
    expect(recovered.stdout).toContain(`Run ${before?.id} was unknown to the history; its branch`);
    expect(await runsOf(world)).toEqual([{ ...before, endedAt: expect.any(String) }]);
    await succeed(world, ["review", "@last"]);
    await succeed(world, ["promote", "@last"]);
    expect(world.git("rev-parse", "HEAD")).toBe(before?.head);
  });

  test("a discarded run: it is discarded again, and can be restored", async () => {
    using world = makeWorld();
    expect((await world.run(GOOD_AGENT)).code).toBe(0);
    await succeed(world, ["discard", "@last"]);
    const [before] = await runsOf(world);
    loseHistory(world);
    await succeed(world, ["recover"]);
    expect(await runsOf(world)).toEqual([{ ...before, endedAt: expect.any(String) }]);
    await succeed(world, ["restore", "@last"]);
    expect(world.git("rev-parse", before?.branch ?? "")).toBe(before?.head);
  });

  test("the half-done work of a run that was killed: salvaged, nothing left over", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    await killedWhile(world, "echo half > half.txt; echo started; sleep 120");
    loseHistory(world);
    await succeed(world, ["recover"]);
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ state: "interrupted", branch: null });
    const patches = join(world.state, "runs", run?.id ?? "", "salvage/patches");
    const [patch = ""] = readdirSync(patches);
    expect(readFileSync(join(patches, patch), "utf8")).toContain("half.txt");
    await expectRecovered(world, before);
  });

  test.each(["stage-done agent", "stage-done collect"])(
    "the finished work of a run that was killed at %s: `salvage` brings it to its branch",
    async (point) => {
      using world = makeWorld();
      const before = checkoutDigest(world);
      await killedAt(world, point);
      loseHistory(world);
      await succeed(world, ["recover"]);
      await succeed(world, ["salvage", "@last"]);
      const [run] = await runsOf(world);
      expect(world.git("show", `${run?.branch}:T1.txt`)).toBe("work on T1");
      await expectRecovered(world, before);
    },
  );

  test.each(["run-created", "stage-done spec", "stage-done lease", "stage-done snapshot"])(
    "what a run that was killed at %s left: it is undone",
    async (point) => {
      using world = makeWorld();
      const before = checkoutDigest(world);
      await killedAt(world, point);
      loseHistory(world);
      await succeed(world, ["recover"]);
      await expectRecovered(world, before);
      expect((await world.run(GOOD_AGENT)).code).toBe(0);
    },
  );

  test("a run that is alive: it is left alone and comes to its end", async () => {
    using world = makeWorld();
    const script = `echo started; while [ ! -e "${world.root}/go" ]; do sleep 0.1; done\n${GOOD_AGENT}`;
    let recovered: ReturnType<World["guardloop"]> | undefined;
    const ended = await world.run(script, [], {
      onStderr(text) {
        if (recovered !== undefined || !text.includes("agent     works")) return;
        loseHistory(world);
        recovered = world.guardloop(["recover"]);
        void recovered.then(() => writeFileSync(join(world.root, "go"), ""));
      },
    });
    expect((await recovered)?.stdout).toBe("Nothing to recover.\n");
    expect(ended.stderr).toContain("ready");
    expect(ended.code).toBe(0);
  });
});

describe("a damaged history", () => {
  const DAMAGE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    "cut off": (bytes) => bytes.subarray(0, 4096),
    overwritten: () => Buffer.alloc(16_384, "A"),
    "with a broken page": (bytes) => Buffer.from(bytes).fill(0xff, 100, 4096),
  };

  test.each(Object.entries(DAMAGE))(
    "%s is refused as it is; `recover` keeps it aside and rebuilds",
    async (_name, damage) => {
      using world = makeWorld();
      expect((await world.run(GOOD_AGENT)).code).toBe(0);
      const [before] = await runsOf(world);
      const path = join(world.state, "history.db");
      const damaged = damage(readFileSync(path));
      writeFileSync(path, damaged);
      await refuse(world, ["runs"], { code: "history-damaged" });
      const ran = await world.run(GOOD_AGENT);
      expect(ran.stderr).toContain("Run `guardloop recover`");
      expect(ran.code).toBe(3);
      expect(readFileSync(path)).toEqual(damaged);
      const recovered = await succeed(world, ["recover"]);
      expect(recovered.stdout).toContain("The damaged history is kept as ");
      const aside = readdirSync(world.state).find((name) => /damaged-[^.]*$/.test(name)) ?? "";
      expect(readFileSync(join(world.state, aside))).toEqual(damaged);
      expect(await runsOf(world)).toEqual([{ ...before, endedAt: expect.any(String) }]);
    },
  );

  test("from a newer guardloop is refused and left alone, by `recover` too", async () => {
    using world = makeWorld();
    expect((await world.run(GOOD_AGENT)).code).toBe(0);
    setVersion(world, 99);
    for (const command of ["runs", "recover"]) {
      const { message } = await refuse(world, [command], { code: "state-unusable" });
      expect(message).toContain("was written by a newer guardloop (database version 99");
    }
    setVersion(world, MIGRATIONS.length);
    expect(await runsOf(world)).toHaveLength(1);
  });
});

test("two recoveries at once: one does the work, the other says so", async () => {
  using world = makeWorld();
  const before = checkoutDigest(world);
  await killedAt(world, "stage-done agent");
  const [one, two] = await Promise.all([
    world.guardloop(["recover"]),
    world.guardloop(["recover"]),
  ]);
  const done = [one, two].filter((ended) => ended.stdout.includes("was finished"));
  expect(done).toHaveLength(1);
  expect((await runsOf(world))[0]?.state).toBe("ready");
  await expectRecovered(world, before);
});
