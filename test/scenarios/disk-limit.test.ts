import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending } from "../rig/lifecycle.ts";
import { expectNoProgramLeft } from "../rig/orphans.ts";
import {
  type World,
  GOOD_AGENT,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

const FOREVER = "while :; do sleep 0.2; done";

async function diskOf(world: World): Promise<{ bytes: number; entries: number; over: string }> {
  const shown = await world.guardloop(["show", "@last", "--json"]);
  return (JSON.parse(shown.stdout) as { disk: { bytes: number; entries: number; over: string } })
    .disk;
}

/** Runs an agent that outgrows its limit and stays; returns what the run failed with. */
async function outgrown(world: World, script: string, flags: readonly string[]): Promise<string> {
  const before = checkoutDigest(world);
  const ended = await world.run(`echo half > half.txt; ${script}; ${FOREVER}`, flags);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain("ended at its limit on the disk");
  const [run] = await runsOf(world);
  expect(run).toMatchObject({ state: "failed", failure: { code: "disk-limit" } });
  expect(leftovers(world)).toEqual([]);
  expect(checkoutDigest(world)).toBe(before);
  return run?.failure?.message ?? "";
}

describe.each(["scripted", "docker"] as const)("on the %s engine, a snapshot", (engine) => {
  test("that outgrows its limit ends the agent by name, and the work is salvaged", async () => {
    using world = makeWorld(engine);
    const script = "head -c 5000000 /dev/urandom > big";
    const message = await outgrown(world, script, ["--disk", "1m"]);
    expect(message).toBe(
      "The agent was ended because the snapshot had grown by 5 MiB, beyond its limit of 1 MiB.",
    );
    const [run] = await runsOf(world);
    const patches = join(world.state, "runs", run?.id ?? "", "salvage/patches");
    const [patch = ""] = readdirSync(patches);
    expect(readFileSync(join(patches, patch), "utf8")).toContain("half.txt");
    expect(await diskOf(world)).toMatchObject({ over: "bytes" });
    const shown = await world.guardloop(["show", "@last"]);
    expect(shown.stdout).toMatch(/^Disk +\d\.\d MiB of 1\.0 MiB and \d+ files of 1000000 more/m);
    await expectNoProgramLeft(world);
  });
});

describe("a snapshot", () => {
  test("with too many files ends the agent, and it is the number that is said", async () => {
    using world = makeWorld();
    const script = "for n in $(seq 300); do : > $n; done";
    expect(await outgrown(world, script, ["--files", "200"])).toMatch(
      /the snapshot had \d+ files and directories more than at the start, beyond its limit of 200/,
    );
  });

  test("with directories too deep to be measured ends the agent", async () => {
    using world = makeWorld();
    const script = `"${process.execPath}" -e 'for (let n = 0; n < 600; n += 1) { require("fs").mkdirSync("d123456789"); process.chdir("d123456789"); }'`;
    expect(await outgrown(world, script, [])).toContain("nested deeper than 256");
  });

  test("of a large repository may be large: only what the agent adds counts", async () => {
    using world = makeWorld();
    world.write("large.bin", "x".repeat(3_000_000));
    world.commit("A large file");
    const ended = await world.run(`sleep 3; ${GOOD_AGENT}`, ["--disk", "1m"]);
    expect(ending(ended)).toBe("exit 0");
    const disk = await diskOf(world);
    expect(disk.over).toBe("none");
    expect(disk.bytes).toBeLessThan(1_000_000);
  });

  test("that fills the artifacts directory ends the agent as well", async () => {
    using world = makeWorld();
    const script = `head -c 5000000 /dev/urandom > "$GUARDLOOP_ARTIFACTS/big"`;
    expect(await outgrown(world, script, ["--disk", "1m"])).toContain("had grown by 5 MiB");
  });
});
