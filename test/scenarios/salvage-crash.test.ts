import { expect, test } from "vitest";
import { killedAtEffect } from "../rig/effects.ts";
import { ending, succeed } from "../rig/lifecycle.ts";
import { FINISH, type World, makeWorld, runsOf } from "../rig/world.ts";

const SALVAGE = ["salvage", "@last", "--message", "Do T1"];

/** A salvage that was killed when it had published its branch, and had not written that down. */
async function killedSalvage(): Promise<{ readonly world: World; readonly branch: string }> {
  const world = makeWorld();
  await world.run(`${FINISH}\necho x > x.txt; rm "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`);
  await killedAtEffect(world, SALVAGE, "before journal stage-done import#1");
  const branch = world.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agent");
  expect(branch).toMatch(/^agent\/T1-/);
  return { world, branch };
}

test("the branch of a salvage that a crash cut short goes, and the work stays", async () => {
  const { world, branch } = await killedSalvage();
  using _ = world;
  const { stdout } = await succeed(world, ["recover"]);
  expect(stdout).toContain(`Removed the branch ${branch}: a salvage of run`);
  expect(world.git("for-each-ref", "refs/heads/agent")).toBe("");
  expect((await runsOf(world))[0]?.state).toBe("failed");
  await succeed(world, SALVAGE);
  expect((await runsOf(world))[0]).toMatchObject({ state: "ready", branch });
});

test("a branch that somebody has checked out, or has gone on with, stays", async () => {
  const { world, branch } = await killedSalvage();
  using _ = world;
  world.git("checkout", "-q", branch);
  expect(ending(await world.guardloop(["recover"]))).toBe("exit 0");
  expect(world.git("rev-parse", "--verify", branch)).toBe(world.git("rev-parse", "HEAD"));
  world.git("commit", "-q", "--allow-empty", "-m", "More");
  world.git("checkout", "-q", "main");
  expect(ending(await world.guardloop(["recover"]))).toBe("exit 0");
  expect(world.git("log", "-1", "--format=%s", branch)).toBe("More");
});
