import { expect, test } from "vitest";
import { GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

test("--with-parents promotes a whole stack in order", async () => {
  using world = makeWorld();
  await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
  const [top, below] = await runsOf(world);
  const refused = await world.guardloop(["promote", top?.id ?? ""]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("--with-parents");
  const dry = await world.guardloop(["promote", top?.id ?? "", "--with-parents", "--dry-run"]);
  expect(dry.stdout).toContain("Would promote T1");
  expect(dry.stdout).toContain("Then would follow: T2");
  expect((await runsOf(world)).map((run) => run.state)).toEqual(["ready", "ready"]);
  const done = await world.guardloop(["promote", top?.id ?? "", "--with-parents"]);
  expect(done.code).toBe(0);
  expect((await runsOf(world)).map((run) => run.state)).toEqual(["promoted", "promoted"]);
  expect(world.git("rev-parse", "HEAD")).toBe(top?.head);
  expect(world.git("rev-parse", "HEAD~1")).toBe(below?.head);
});

test("a blocking finding below stops the stack there, and nothing above lands", async () => {
  using world = makeWorld();
  await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
  const [top, below] = await runsOf(world);
  world.git("branch", "-f", below?.branch ?? "", "HEAD");
  const refused = await world.guardloop(["promote", top?.id ?? "", "--with-parents"]);
  expect(refused.code).toBe(3);
  expect((await runsOf(world)).map((run) => run.state)).toEqual(["ready", "ready"]);
});

test("discarding the lower run says which runs build on it", async () => {
  using world = makeWorld();
  await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
  const [top, below] = await runsOf(world);
  const done = await world.guardloop(["discard", below?.id ?? ""]);
  expect(done.code).toBe(0);
  expect(done.stdout).toContain(`cannot be promoted without it: ${top?.id}`);
});
