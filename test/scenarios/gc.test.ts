import { execFileSync } from "node:child_process";
import {
  existsSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AT_ONCE, gc, listing, recordOf } from "../rig/house.ts";
import { ending, readyRun, show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

describe("`gc` without --yes", () => {
  test("lists what may go, how large it is and why, and changes nothing", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    await succeed(world, ["branches", "--prune", "--branch-days", "0"]);
    const places = [world.state, world.repo];
    const before = places.map(listing);
    const refs = world.git("for-each-ref");
    const said = (await succeed(world, ["gc", ...AT_ONCE])).stdout;
    expect(said).toMatch(
      new RegExp(`Would remove record .*/runs/${run.id} {2}[\\d.]+ KiB: its work landed in main`),
    );
    expect(said).toMatch(/Would remove worktree .*\/1\/shop {2}[\d.]+ KiB: no run has used it/);
    expect(said).toContain(
      "Nothing was changed. To do it: guardloop gc --yes --branch-days 0 --record-days 0 --pool-days 0",
    );
    expect(places.map(listing)).toEqual(before);
    expect(world.git("for-each-ref")).toBe(refs);
  });

  test("of a fresh repository says that there is nothing", async () => {
    using world = makeWorld();
    expect((await succeed(world, ["gc"])).stdout).toBe("There is nothing to remove.\n");
  });
});

/** But for the layers, which are of no run. */
function kindsOf({ items }: Awaited<ReturnType<typeof gc>>): readonly string[] {
  const kinds = items.map(({ kind }) => kind);
  return kinds.filter((kind) => !kind.startsWith("base ")).toSorted();
}

test("`gc` looks at this repository alone, and `--all` at every one", async () => {
  using world = makeWorld();
  const other = join(world.root, "other");
  execFileSync("cp", ["-r", world.repo, other]);
  await world.run("true", [], { cwd: other });
  await world.run("true");
  const here = await gc(world, ...AT_ONCE);
  expect(kindsOf(here)).toEqual(["record", "worktree"]);
  const all = await gc(world, "--all", ...AT_ONCE);
  expect(kindsOf(all)).toEqual(["record", "record", "worktree", "worktree"]);
});

describe("after a run", () => {
  test("what may go is removed by itself, in one line; not when retention is off", async () => {
    using world = makeWorld();
    await world.run("true");
    const [first] = await runsOf(world);
    const off = await world.run(GOOD_AGENT, ["--record-days", "0", "--retention", "off"]);
    expect(off.stderr).not.toContain("Kept house");
    expect(existsSync(recordOf(world, first?.id ?? ""))).toBe(true);
    const on = await world.run("true", ["--record-days", "0"]);
    expect(on.code).toBe(4);
    expect(on.stderr.match(/Kept house: .*/g)).toEqual([
      expect.stringMatching(/^Kept house: 2 old things removed, [\d.]+ KiB\.$/),
    ]);
    expect(existsSync(recordOf(world, first?.id ?? ""))).toBe(false);
    expect((await show(world, "@last")).run.state).toBe("failed");
  });

  test("it is looked for once an hour, and at once with other settings", async () => {
    using world = makeWorld();
    const looks = (): number =>
      world.dockerCalls().filter(({ argv }) => argv[0] === "images").length;
    await world.run("true");
    expect(looks()).toBe(1);
    await world.run("true");
    expect(looks()).toBe(1);
    await world.run("true", ["--record-days", "120"]);
    expect(looks()).toBe(2);
    const [name = ""] = readdirSync(join(world.state, "house"));
    const stamp = join(world.state, "house", name);
    const settings = readFileSync(stamp, "utf8").split("\n").slice(1).join("\n");
    const anHourAgo = new Date(Date.now() - 61 * 60_000).toISOString();
    writeFileSync(stamp, `${anHourAgo}\n${settings}`);
    await world.run("true", ["--record-days", "120"]);
    expect(looks()).toBe(3);
  });

  test("an engine that cannot list images, or a trash that is no directory, fails nothing", async () => {
    using world = makeWorld();
    await world.run("true");
    writeFileSync(join(world.state, "trash"), "in the way");
    const ended = await world.run(GOOD_AGENT, ["--record-days", "0"]);
    expect(ending(ended)).toBe("exit 0");
    const said = await world.guardloop(["gc", "--yes", "--record-days", "0"]);
    expect(said.stdout).toContain("Not done: ");
    expect(said.code).toBe(1);
  });
});

test("a repository's file can ask for longer times, and for shorter ones only with trust", async () => {
  using world = makeWorld();
  world.write("guardloop.toml", "[retention]\nrecord_days = 0\n");
  world.commit("Hasty");
  await world.run("true");
  expect((await gc(world)).items).toEqual([]);
  await succeed(world, ["trust"]);
  expect((await gc(world)).items.map(({ kind }) => kind)).toEqual(["record"]);
});

test("a symbolic link in place of a record's directory is left alone, and so is what it leads to", async () => {
  using world = makeWorld();
  await world.run("true");
  const [run] = await runsOf(world);
  const outside = join(world.root, "outside");
  renameSync(recordOf(world, run?.id ?? ""), outside);
  symlinkSync(outside, recordOf(world, run?.id ?? ""));
  const before = listing(outside);
  expect((await gc(world, "--yes", "--record-days", "0")).items).toEqual([]);
  expect(readlinkSync(recordOf(world, run?.id ?? ""))).toBe(outside);
  expect(listing(outside)).toEqual(before);
});
