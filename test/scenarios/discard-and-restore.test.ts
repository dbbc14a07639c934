import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT_COMMIT, readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { checkoutDigest, makeWorld } from "../rig/world.ts";

describe("discard and restore", () => {
  test("a round trip loses nothing, not even over a garbage collection", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world, /^refs\/heads\/agent\//);
    const run = await readyRun(world, `git add -A; ${AGENT_COMMIT}; echo more >> T1.txt`);
    await succeed(world, ["discard", run.id, "--why", "wrong approach"]);
    expect(world.git("branch", "--list", "agent/*")).toBe("");
    expect((await show(world)).run.state).toBe("discarded");
    world.git("reflog", "expire", "--expire=now", "--all");
    world.git("gc", "-q", "--prune=now");
    expect(world.git("rev-list", "--count", `${run.base}..${run.head}`)).toBe("2");
    await succeed(world, ["restore", run.id]);
    expect(world.git("rev-parse", run.branch)).toBe(run.head);
    expect(world.git("for-each-ref", "refs/guardloop/discarded")).toBe("");
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    await succeed(world, ["promote", run.id]);
  });

  test("a branch that somebody worked on is not dropped", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    world.git("branch", "-f", run.branch, "main");
    const before = checkoutDigest(world);
    const said = await refuse(world, ["discard", run.id], { code: "not-in-this-state", status: 2 });
    expect(said.message).toContain("moved");
    expect(checkoutDigest(world)).toBe(before);
  });

  test("a branch that is gone already is discarded all the same, and comes back", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    world.git("branch", "-D", run.branch);
    await succeed(world, ["discard", run.id]);
    await succeed(world, ["restore", run.id]);
    expect(world.git("rev-parse", run.branch)).toBe(run.head);
  });

  test.each(["the principal checkout", "another worktree"])(
    "a branch that is checked out in %s is not pulled from under it",
    async (place) => {
      using world = makeWorld();
      const run = await readyRun(world);
      if (place === "another worktree")
        world.git("worktree", "add", "-q", join(world.root, "look"), run.branch);
      else world.git("checkout", "-q", run.branch);
      const before = checkoutDigest(world);
      const said = await refuse(world, ["discard", run.id], {
        code: "not-in-this-state",
        status: 2,
      });
      expect(said.message).toContain("checked out in");
      expect(checkoutDigest(world)).toBe(before);
    },
  );

  test("restore does not overwrite a branch that took the name meanwhile", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["discard", run.id]);
    world.git("branch", run.branch, "main");
    const before = checkoutDigest(world);
    const ended = await world.guardloop(["restore", run.id, "--json"]);
    expect((JSON.parse(ended.stdout) as { error: { code: string } }).error.code).toBe(
      "branch-exists",
    );
    expect(checkoutDigest(world)).toBe(before);
    expect((await show(world)).run.state).toBe("discarded");
  });
});
