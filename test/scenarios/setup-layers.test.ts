import { readFileSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { IN_A_HURRY } from "../rig/clock.ts";
import { ending, succeed } from "../rig/lifecycle.ts";
import { ASSIGNED_AGENT } from "../rig/several.ts";
import {
  GOOD_AGENT,
  type World,
  agentRuns,
  leftovers,
  letMountOverlays,
  makeWorld,
} from "../rig/world.ts";
import { AGENT_WITH_MADE } from "../rig/setup-agent.ts";

const INSTALL =
  "mkdir -p node_modules/dep && cp package.json node_modules/dep/ && ln -s dep node_modules/alias";

function project(): World {
  const world = makeWorld();
  letMountOverlays(world);
  world.write("package.json", '{"name":"shop"}\n');
  world.write(".gitignore", "node_modules/\n");
  world.commit("A project with dependencies");
  return world;
}

/** The only result there is. */
function resultOf(world: World): string {
  const setups = join(world.state, "setup");
  const [id = ""] = readdirSync(setups);
  const [key = "", ...more] = readdirSync(join(setups, id, "results"));
  expect(more).toEqual([]);
  return join(setups, id, "results", key);
}

/** The layers of containers whose name ends like this, uppermost first. */
function lowerOf(world: World, end: string): readonly (readonly string[])[] {
  return world
    .dockerCalls()
    .filter(({ argv }) => argv.some((one) => one.startsWith("--name=") && one.endsWith(end)))
    .flatMap(({ argv }) => argv.flatMap((one) => /lowerdir=([^,]+),/.exec(one)?.[1] ?? []))
    .map((lower) => lower.split(":"));
}

// The layers are of another user than the one who mounts them.
describe.skipIf(process.getuid?.() !== 0)("over layers, what setup made", () => {
  test("is a layer under the base for the agent and the validation, and no agent changes it", async () => {
    using world = project();
    const agent = `set -e
test -f node_modules/alias/package.json
echo changed > node_modules/dep/package.json; rm node_modules/alias; mv node_modules/dep node_modules/moved
${ASSIGNED_AGENT}`;
    for (const task of ["T1", "T2"]) {
      const flags = [
        "--setup",
        INSTALL,
        "--validate",
        "deps: test -f node_modules/alias/package.json",
      ];
      const ended = await world.run(agent, [...flags, "--task", task]);
      expect(ending(ended)).toBe("exit 0");
    }
    const tree = join(resultOf(world), "tree");
    for (const end of ["-agent", "-validate"]) {
      const layers = lowerOf(world, end);
      expect(layers).toHaveLength(2);
      for (const lower of layers)
        expect(lower).toEqual([expect.stringMatching(/\/trees\/\d+\/files$/), tree]);
    }
    expect(readFileSync(join(tree, "node_modules/dep/package.json"), "utf8")).toContain("shop");
    expect(readdirSync(join(tree, "node_modules")).toSorted()).toEqual(["alias", "dep"]);
    expect(leftovers(world)).toEqual([]);
  });

  test("is copied where the base has something at its place", async () => {
    using world = project();
    const ended = await world.run(`set -e\n${AGENT_WITH_MADE}`, [
      "--setup",
      "echo setup > made.txt",
      "--max-tasks",
      "2",
    ]);
    expect(ending(ended)).toBe("exit 0");
    expect(agentRuns(world)).toHaveLength(2);
    expect(lowerOf(world, "-agent").map((lower) => lower.length)).toEqual([2, 1]);
  });

  test("stays while a snapshot that was kept lies on it, however old it is", async () => {
    using world = project();
    world.faults({ afterScript: `echo '{"daemonGone":true}' > "$FAULTS"` });
    await world.run(GOOD_AGENT, ["--setup", INSTALL], { env: IN_A_HURRY });
    world.faults({});
    const result = resultOf(world);
    const then = new Date(Date.now() - 400 * 24 * 60 * 60_000);
    utimesSync(result, then, then);
    const users = readdirSync(join(result, "users"));
    expect(users).toHaveLength(1);
    await succeed(world, ["gc", "--yes"]);
    expect(resultOf(world)).toBe(result);
    await succeed(world, ["salvage", "@last"]);
    utimesSync(result, then, then);
    await succeed(world, ["gc", "--yes"]);
    expect(readdirSync(join(result, "../"))).toEqual([]);
  });
});
