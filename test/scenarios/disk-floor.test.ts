import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { refuse, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, checkoutDigest, makeWorld, runsOf } from "../rig/world.ts";

const isRoot = process.getuid?.() === 0;
const RUN = ["--agent", "command", "--", "sh", "-c", GOOD_AGENT];

/** The state directory on a small file system of its own. */
function onSmallDisk(world: World) {
  mkdirSync(world.state, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=300m,mode=0700", "tmpfs", world.state]);
  return {
    [Symbol.dispose]: () => void execFileSync("umount", ["--lazy", world.state]),
  };
}

describe("too little free space", () => {
  test("refuses the first run by name, before anything is there", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const said = await refuse(world, ["run", "--free-floor", "900t", ...RUN], { code: "disk-low" });
    expect(said.message).toMatch(
      /^Only \d+ MiB are free on the file system of .*\/state\/guardloop, less than the floor of 943718400 MiB/,
    );
    expect(said.cure).toContain("guardloop gc");
    expect(checkoutDigest(world)).toBe(before);
    expect(await runsOf(world)).toEqual([]);
    expect(existsSync(join(world.state, "runs"))).toBe(false);
    expect(existsSync(join(world.state, "worktrees"))).toBe(false);
  });

  test("`doctor` calls it a problem; a floor of nothing never refuses", async () => {
    using world = makeWorld();
    world.write("guardloop.toml", '[disk]\nfree_floor = "900t"\n');
    world.commit("A high floor");
    const ended = await world.guardloop(["doctor"]);
    expect(`${ended.code} ${ended.stderr}`).toMatch(/^3 /);
    expect(ended.stdout).toMatch(/^problem disk +Only \d+ MiB are free/m);
    await succeed(world, ["run", "--free-floor", "0b", ...RUN]);
  });

  test.skipIf(!isRoot)(
    "ends a series before its next run, with the run before as it was",
    async () => {
      using world = makeWorld();
      using disk = onSmallDisk(world);
      void disk;
      const fill = `dd if=/dev/zero of=${join(world.state, "fill")} bs=1M count=200 status=none`;
      const ended = await world.run(`${fill}; ${GOOD_AGENT}`, [
        "--max-tasks",
        "2",
        "--free-floor",
        "150m",
      ]);
      expect(`${ended.code} ${ended.stderr}`).toMatch(/^3 /);
      expect(ended.stderr).toMatch(/Only \d+ MiB are free .* less than the floor of 150 MiB/);
      expect(ended.stderr).toContain("[disk-low]");
      const runs = await runsOf(world);
      expect(runs.map(({ state }) => state)).toEqual(["ready"]);
      expect(readdirSync(join(world.state, "runs"))).toEqual([runs[0]?.id]);
      await succeed(world, ["promote", "@last"]);
    },
  );
});
