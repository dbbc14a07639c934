import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stateId } from "../../src/run/paths.ts";
import {
  GOOD_AGENT,
  type World,
  installEngine,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

/** Both engines answer; faults are Podman's. */
function worldWithBoth(): World {
  const world = makeWorld("scripted-podman");
  installEngine(world.bin, "docker");
  return world;
}

/** What Podman was asked since `before` calls, by its verbs. */
function asked(world: World, before: number): readonly (string | undefined)[] {
  return world
    .dockerCalls()
    .slice(before)
    .map(({ argv }) => argv[0]);
}

const inDocker = ["--engine", "docker"];

/** A run in Podman that ended, and whose container is there all the same. */
async function leaveContainer(world: World): Promise<void> {
  expect((await world.run(GOOD_AGENT)).code).toBe(0);
  const [run] = await runsOf(world);
  const known = { pid: 2 ** 22 + 1, run: run?.id, state: stateId(world.state) };
  const name = `guardloop-${run?.id ?? ""}-agent`;
  writeFileSync(join(world.bin, "podman-containers", name), JSON.stringify(known));
}

describe("the engine that a run does not use", () => {
  test("is asked once, and not again while it holds nothing", async () => {
    using world = worldWithBoth();
    await world.run(GOOD_AGENT, inDocker);
    expect(asked(world, 0)).toEqual(["info", "ps"]);
    expect((await world.run(GOOD_AGENT, inDocker)).code).toBe(0);
    expect(asked(world, 0)).toEqual(["info", "ps"]);
  });

  test("is asked again after it was used, and then not any more", async () => {
    using world = worldWithBoth();
    await world.run(GOOD_AGENT, inDocker);
    world.git(
      "merge",
      "-q",
      "--ff-only",
      world.git("for-each-ref", "--format=%(refname)", "refs/heads/agent"),
    );
    expect((await world.run(GOOD_AGENT)).code).toBe(0);
    const before = world.dockerCalls().length;
    await world.run(GOOD_AGENT, inDocker);
    expect(asked(world, before)).toEqual(["info", "ps"]);
    await world.run(GOOD_AGENT, inDocker);
    expect(asked(world, before)).toEqual(["info", "ps"]);
  });

  test("loses a container that an ended run left in it", async () => {
    using world = worldWithBoth();
    await leaveContainer(world);
    const ended = await world.run(GOOD_AGENT, inDocker);
    expect(ended.stderr).toContain("Removed the container guardloop-");
    expect(ended.code).toBe(0);
    expect(leftovers(world)).toEqual([]);
  });

  test("is asked on while what it holds cannot be removed", async () => {
    using world = worldWithBoth();
    await leaveContainer(world);
    world.faults({ removeRefused: true });
    await world.run(GOOD_AGENT, inDocker);
    expect(leftovers(world)).toHaveLength(1);
    world.faults({});
    await world.run(GOOD_AGENT, inDocker);
    expect(leftovers(world)).toEqual([]);
  });

  test("is asked where the state directory was lost", async () => {
    using world = worldWithBoth();
    await leaveContainer(world);
    rmSync(world.state, { recursive: true, force: true });
    world.git("worktree", "prune");
    const ended = await world.run(GOOD_AGENT, inDocker);
    expect(ended.stderr).toContain("Removed the container guardloop-");
    expect(leftovers(world)).toEqual([]);
  });

  test("is asked by `recover` whatever is known of it", async () => {
    using world = worldWithBoth();
    await world.run(GOOD_AGENT, inDocker);
    const before = world.dockerCalls().length;
    expect((await world.guardloop(["recover"])).code).toBe(0);
    expect(asked(world, before)).toEqual(["info", "ps"]);
  });
});
