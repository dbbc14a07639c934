import { describe, expect, test } from "vitest";
import { readyRun, succeed } from "../rig/lifecycle.ts";
import { agentRuns, makeWorld } from "../rig/world.ts";

describe("show", () => {
  test("of a ready run has on one screen what a person wants to know, what to do first", async () => {
    using world = makeWorld();
    const { id, branch, head, base } = await readyRun(world, "ln -s /etc/passwd link", [
      "--validate",
      "ok: true",
      "--memory",
      "1g",
    ]);
    const { stdout } = await succeed(world, ["show", "@last"]);
    const lines = stdout.split("\n");
    expect(lines[0]).toBe(`Run ${id}  ready`);
    expect(lines[1]).toBe(`What to do  Look at it: guardloop review ${id}`);
    expect(lines.length).toBeLessThan(45);
    expect(stdout).toMatch(/^Task +T1 Add the first file {2}docs\/TASKS\.md:3$/m);
    expect(stdout).toContain(`Base        ${base.slice(0, 12)}`);
    expect(stdout).toContain(`Branch      ${branch} at ${head.slice(0, 12)}, 1 commit`);
    expect(stdout).toContain("Image       guardloop-agent sha256:abab");
    expect(stdout).toMatch(/^Lease +builtin, \//m);
    expect(stdout).toMatch(/^Findings +1 block {2}symlink-escaping$/m);
    expect(stdout).toMatch(/^Hashes +plan [0-9a-f]{12}, run spec [0-9a-f]{12}$/m);
    expect(stdout).toMatch(
      /^Container +memory 1\.0 GiB, 4 CPUs, 512 processes, uid \d+ {2}whole call/m,
    );
    expect(stdout).toMatch(/^Snapshot +0 untracked files let in, 0 kept out$/m);
    expect(stdout).toMatch(/^ {2}container\.memory = 1g {2}flag, --memory$/m);
    expect(stdout).not.toContain("network.mode = ");
  });

  test.each([
    ["promote", "guardloop rollback"],
    ["discard", "guardloop restore"],
  ])("after %s says how to take it back", async (verb, next) => {
    using world = makeWorld();
    const { id } = await readyRun(world);
    await succeed(world, [verb, id]);
    expect((await succeed(world, ["show", id])).stdout).toMatch(
      new RegExp(`^What to do  .*${next} ${id}$`, "m"),
    );
  });

  test("of a failed run begins with the failure and its cure", async () => {
    using world = makeWorld();
    await world.run("exit 3");
    const lines = (await succeed(world, ["show", "@last"])).stdout.split("\n");
    expect(lines[1]).toMatch(/^Failure .*ended with status 3.* \[missing-task-id in collect\]$/);
    expect(lines[2]).toMatch(/^What to do {2}See `guardloop logs \S+`\.$/);
  });

  test("--argv gives the call of the engine, an argument a line", async () => {
    using world = makeWorld();
    await readyRun(world);
    const { stdout } = await succeed(world, ["show", "@last", "--argv"]);
    const [called] = agentRuns(world);
    expect(stdout.trim().split("\n").slice(1)).toEqual(called);
  });
});
