import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { expectCleanAfterCrash, workOf } from "../rig/aftermath.ts";
import { killedWhile } from "../rig/crash.ts";
import { killedAtEffect, runArgs } from "../rig/effects.ts";
import { type World, checkoutDigest, makeWorld, runsOf } from "../rig/world.ts";

type Kill = (world: World) => Promise<void>;

const at =
  (point: string): Kill =>
  (world) =>
    killedAtEffect(world, runArgs("builtin"), point);

const KILLS: readonly (readonly [string, Kill, "none" | "patches" | "branch"])[] = [
  ["before the container", at("before docker run guardloop-RUN-agent#1"), "none"],
  [
    "while the agent works",
    (world) => killedWhile(world, "echo half > half.txt; echo started; sleep 120"),
    "patches",
  ],
  ["after the agent, before collect", at("before journal stage-intent collect#1"), "branch"],
  ["in the import", at("before git update-ref#1"), "branch"],
];

/** Every container of the run, also one that has ended. */
function containersOf(runId: string): readonly string[] {
  const args = ["ps", "-a", `--filter=label=guardloop.run=${runId}`, "--format={{.Names}}"];
  return execFileSync("docker", args, { encoding: "utf8" }).split("\n").filter(Boolean);
}

test.each(KILLS)("on a real engine, guardloop is killed %s", async (name, kill, work) => {
  using world = makeWorld("docker");
  const before = checkoutDigest(world);
  await kill(world);
  const [running] = await runsOf(world);
  expect(running?.state).toBe("running");
  const left = name === "while the agent works" ? 1 : 0;
  expect(containersOf(running?.id ?? "")).toHaveLength(left);
  const recovered = await world.guardloop(["recover"]);
  expect(recovered.stderr).not.toContain("    at ");
  expect(recovered.code).toBe(0);
  const [run] = await expectCleanAfterCrash(world, before);
  expect(containersOf(run?.id ?? "")).toEqual([]);
  expect(workOf(world, run)).toBe(work);
  const again = await world.guardloop(["recover"]);
  expect(again.stdout).toBe("Nothing to recover.\n");
});
