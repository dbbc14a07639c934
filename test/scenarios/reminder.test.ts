import { expect, test } from "vitest";
import { GOOD_AGENT, type World, installAgent, makeWorld } from "../rig/world.ts";

/** Does half of its task, and the rest when its session is resumed. */
const FORGETFUL = `
case "$*" in
  *--continue*) ${GOOD_AGENT.trim()} ;;
  *) echo half > half.txt ;;
esac
`;

function run(world: World, flags: readonly string[] = []) {
  return world.guardloop(["run", "--agent", "claude", "--network", "bridge", ...flags]);
}

test("an agent that ended without its artifacts is reminded once, and the record says so", async () => {
  using world = makeWorld();
  installAgent(world, "claude", FORGETFUL);
  const ended = await run(world);
  expect(ended.code).toBe(0);
  expect((await world.guardloop(["show", "@last"])).stdout).toContain(
    "The agent ended without its artifacts and was reminded of them.",
  );
  expect((await world.guardloop(["logs", "@last"])).stdout).toContain(
    "guardloop guest: the agent ended without its artifacts and is woken again",
  );
});

test("with --reminder off it is not", async () => {
  using world = makeWorld();
  installAgent(world, "claude", FORGETFUL);
  const ended = await run(world, ["--reminder", "off"]);
  expect(ended.code).toBe(4);
  expect(ended.stderr).toContain("[missing-task-id]");
});
