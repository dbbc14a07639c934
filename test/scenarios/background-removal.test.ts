import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { killedAtEffect, quiet } from "../rig/effects.ts";
import { DEAD, gc } from "../rig/house.ts";
import { ending, refuse, succeed } from "../rig/lifecycle.ts";
import { MANY_FILES, holdingTrash, removedInBackground, trash } from "../rig/removal.ts";
import { GOOD_AGENT, type World, leftovers, makeWorld } from "../rig/world.ts";

const HOOK = pathToFileURL(join(import.meta.dirname, "../rig/spawn-hook.mjs")).href;
const MANY = `${MANY_FILES}${GOOD_AGENT}`;
const REMOVER = join(import.meta.dirname, "../../dist/remover/remover.mjs");

/** How often a run starts the remover. */
async function removersOf(world: World, script: string): Promise<number> {
  const record = join(world.root, "starts");
  rmSync(record, { force: true });
  const env = { NODE_OPTIONS: `--import ${HOOK}`, SPAWN_RECORD: record };
  expect(ending(await world.run(script, [], { env }))).toBe("exit 0");
  return readFileSync(record, "utf8").split("remover.mjs").length - 1;
}

/** A directory of a thousand files in the trash, as a killed removal leaves one. */
function leaveHalf(world: World): string {
  const half = join(world.state, "trash", "0123456789abcdef01234567");
  mkdirSync(half, { recursive: true, mode: 0o700 });
  for (let number = 0; number < 1_000; number += 1) writeFileSync(join(half, `${number}`), "");
  return half;
}

describe("what a run leaves", () => {
  test("few files are removed at once, without another process", async () => {
    using world = makeWorld();
    expect(await removersOf(world, GOOD_AGENT)).toBe(0);
    expect(trash(world)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });

  test("many files are moved aside, and one process removes them after the command", async () => {
    using world = makeWorld();
    expect(await removersOf(world, MANY)).toBe(1);
    expect(leftovers(world)).toEqual([]);
    await removedInBackground(world);
  });

  test("while a process is removing, a run leaves it more and starts no second one", async () => {
    using world = makeWorld();
    {
      using held = holdingTrash(world);
      void held;
      expect(await removersOf(world, MANY)).toBe(0);
      expect(leftovers(world)).toEqual([]);
      // Workspace, outbox and job: the store is a kept one.
      expect(trash(world)).toHaveLength(3);
      expect((await succeed(world, ["recover"])).stdout).toBe("Nothing to recover.\n");
      expect(trash(world)).toHaveLength(3);
    }
    await succeed(world, ["recover"]);
    await removedInBackground(world);
  });

  test("a workspace that the agent made read-only is moved aside all the same", async () => {
    using world = makeWorld();
    expect(await removersOf(world, `${MANY}chmod 555 . many\n`)).toBe(1);
    expect(leftovers(world)).toEqual([]);
    await removedInBackground(world);
  });
});

describe("a removal that was killed", () => {
  test.each([
    ["recover", ["recover"]],
    ["run", ["run", "--agent", "command", "--", "sh", "-c", GOOD_AGENT]],
  ])("goes on with the next `%s`", async (_, args) => {
    using world = makeWorld();
    leaveHalf(world);
    using dead = holdingTrash(world, DEAD);
    void dead;
    expect(ending(await world.guardloop(args))).toBe("exit 0");
    await removedInBackground(world);
    expect(trash(world)).toEqual([]);
  });

  test("between two of the directories: the rest is in its place, and recovered", async () => {
    using world = makeWorld();
    const args = ["run", "--agent", "command", "--", "sh", "-c", MANY];
    await killedAtEffect(world, args, "before rename /state/guardloop/trash/ID#3");
    expect(trash(world)).toHaveLength(1);
    expect(leftovers(world).filter((one) => /outbox|workspace|base\.git/.test(one))).toHaveLength(
      1,
    );
    await succeed(world, ["recover"]);
    expect(leftovers(world)).toEqual([]);
    await removedInBackground(world);
  });

  test("is listed by `gc`, which removes it when told", async () => {
    using world = makeWorld();
    const half = leaveHalf(world);
    const [item] = (await gc(world)).items;
    expect(item).toMatchObject({ kind: "trash", what: half, why: "a removal was interrupted" });
    await gc(world, "--yes");
    expect(trash(world)).toEqual([]);
  });
});

test("what is being removed right now is listed by `gc` as such, and left to who is at it", async () => {
  using world = makeWorld();
  const half = leaveHalf(world);
  using held = holdingTrash(world);
  void held;
  const found = await gc(world, "--yes");
  expect(found.items).toEqual([]);
  expect(found.kept).toEqual([
    expect.objectContaining({
      what: half,
      why: "it is being removed in the background right now",
    }),
  ]);
  expect(existsSync(half)).toBe(true);
});

test("a low disk waits for what is still to be removed before it refuses a run", async () => {
  using world = makeWorld();
  leaveHalf(world);
  const run = ["run", "--free-floor", "900t", "--agent", "command", "--", "sh", "-c", GOOD_AGENT];
  await refuse(world, run, { code: "disk-low" });
  expect(trash(world)).toEqual([]);
  leaveHalf(world);
  const ended = await world.guardloop(run);
  expect(ended.stderr).toContain(
    "The disk is low; waiting until what earlier runs left is removed.",
  );
});

test.skipIf(process.getuid?.() !== 0)(
  "what belongs to another user stays, is tried no more in the background, and is named with its cure",
  async () => {
    using world = makeWorld();
    const alien = join(world.state, "trash", "alien");
    const plain = join(world.state, "trash", "plain");
    for (const directory of [join(alien, "roots"), plain, join(world.state, "locks")])
      mkdirSync(directory, { recursive: true });
    writeFileSync(join(alien, "roots", "file"), "");
    writeFileSync(join(alien, "mine"), "");
    for (const path of [world.root, join(world.root, "state"), world.state]) chmodSync(path, 0o755);
    for (const path of ["locks", "trash", "trash/alien", "trash/plain"])
      chownSync(join(world.state, path), 65_534, 65_534);
    chmodSync(join(alien, "roots"), 0o700);
    // As overlay file systems leave one: of root's, and empty.
    mkdirSync(join(plain, "work"), { mode: 0 });
    const child = spawn(process.execPath, [REMOVER, world.state, hostname()], { uid: 65_534 });
    expect(await new Promise((resolve) => child.on("exit", resolve))).toBe(0);
    expect(trash(world)).toEqual(["alien.stuck"]);
    expect(readdirSync(`${alien}.stuck`)).toEqual(["roots"]);
    await succeed(world, ["recover"]);
    await quiet(world);
    expect(trash(world)).toEqual(["alien.stuck"]);
    const [item] = (await gc(world)).items;
    expect(item).toMatchObject({ why: "it could not be removed before" });
    await gc(world, "--yes");
    expect(trash(world)).toEqual([]);
  },
);
