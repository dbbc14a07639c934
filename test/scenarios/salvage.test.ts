import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FINISH, GOOD_AGENT, checkoutDigest, leftovers, makeWorld, runsOf } from "../rig/world.ts";

test("work of an agent that was ended becomes a branch, with id and message given by hand", async () => {
  using world = makeWorld();
  await world.run("echo half > half.txt; sleep 100", ["--wall-minutes", "0.03"]);
  const refused = await world.guardloop(["salvage", "@last"]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("selected-task-id.txt");
  const before = checkoutDigest(world);
  const done = await world.guardloop([
    "salvage",
    "@last",
    "--task",
    "T1",
    "--message",
    "Half of T1",
  ]);
  expect(done.code).toBe(0);
  const [run] = await runsOf(world);
  expect(run).toMatchObject({ state: "ready", task: "T1", failure: null });
  expect(world.git("log", "-1", "--format=%s", run?.branch ?? "")).toBe("Half of T1");
  expect(world.git("show", `${run?.branch}:half.txt`)).toBe("half");
  expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
  expect((await world.guardloop(["promote", "@last"])).code).toBe(0);
  expect(leftovers(world)).toEqual([]);
});

test("a missing message is given by hand, the id the agent left is kept", async () => {
  using world = makeWorld();
  await world.run(`${FINISH}\necho x > x.txt; rm "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`);
  expect((await runsOf(world))[0]?.failure?.code).toBe("missing-commit-message");
  expect((await world.guardloop(["salvage", "@last", "--message", "Do it"])).code).toBe(0);
  expect((await runsOf(world))[0]).toMatchObject({ state: "ready", task: "T1" });
});

test("a task that was not offered cannot be given by hand either", async () => {
  using world = makeWorld();
  await world.run("echo half > half.txt");
  const refused = await world.guardloop(["salvage", "@last", "--task", "T3", "--message", "x"]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("offered were T1, T2");
  expect((await runsOf(world))[0]?.state).toBe("failed");
});

test("salvaged patches are checked like any others: a tree that differs is refused", async () => {
  using world = makeWorld();
  world.faults({ editPatch: { from: "work on T1", to: "work on T9" } });
  await world.run(GOOD_AGENT);
  const refused = await world.guardloop(["salvage", "@last"]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("import-mismatch");
  expect(world.git("for-each-ref", "refs/heads/agent")).toBe("");
});

test("a run without exported work, and one that is ready, say so", async () => {
  using world = makeWorld();
  await world.run("true");
  const nothing = await world.guardloop(["salvage", "@last", "--task", "T1", "--message", "x"]);
  expect(nothing.code).toBe(4);
  expect(nothing.stderr).toContain("holds no exported work");
  await world.run(GOOD_AGENT);
  const ready = await world.guardloop(["salvage", "@last"]);
  expect(ready.code).toBe(2);
});

test("a review that was never written is computed when it is asked for", async () => {
  using world = makeWorld();
  await world.run(GOOD_AGENT);
  const [run] = await runsOf(world);
  rmSync(join(world.state, "runs", run?.id ?? "", "review.json"));
  const refused = await world.guardloop(["promote", "@last"]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("guardloop review");
  expect((await world.guardloop(["review", "@last"])).code).toBe(0);
  expect((await world.guardloop(["promote", "@last"])).code).toBe(0);
});
