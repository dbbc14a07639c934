import { array, assert, asyncProperty, constantFrom } from "fast-check";
import { expect, test } from "vitest";
import { ALL_AT_ONCE } from "../rig/house.ts";
import { headOf, succeed } from "../rig/lifecycle.ts";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";
import { GOOD_AGENT, type World, makeWorld, runsOf } from "../rig/world.ts";

/** Ways in which a run can end, and what can be decided about it afterwards. */
const ENDINGS = {
  ready: [],
  promoted: [["promote"]],
  "rolled back": [["promote"], ["rollback"]],
  "opened again": [["promote"], ["rollback"], ["restore"]],
  discarded: [["discard"]],
  restored: [["discard"], ["restore"]],
  failed: [],
  empty: [],
} as const satisfies Record<string, readonly (readonly string[])[]>;
type Ending = keyof typeof ENDINGS;

async function take(world: World, how: Ending): Promise<void> {
  if (how === "empty") await world.run("true");
  else if (how === "failed") {
    world.faults({ removeArtifacts: ["last-commit-message.txt"] });
    await world.run(GOOD_AGENT);
    world.faults({});
  } else await succeed(world, ["run", "--agent", "command", "--", "sh", "-c", GOOD_AGENT]);
  for (const [verb = ""] of ENDINGS[how]) await succeed(world, [verb, "@last"]);
}

const names = Object.keys(ENDINGS) as Ending[];
const PLAN = ["T1", "T2", "T3", "T4"].map((id) => `## ${id} — Do\n\nStatus: ready\n`).join("\n");

test(
  "whatever runs came to, after `gc` everything open can still be promoted, salvaged or opened again",
  NO_SECOND_TRY,
  async () => {
    const sequences = array(constantFrom(...names), { minLength: 2, maxLength: 4 });
    await assert(
      asyncProperty(sequences, async (sequence) => {
        using world = makeWorld();
        world.write("docs/TASKS.md", `# Plan\n\n${PLAN}`);
        world.commit("More tasks");
        for (const how of sequence) await take(world, how);
        await succeed(world, ALL_AT_ONCE);
        await openAgain(world);
        for (const { id, state, head } of await runsOf(world)) {
          if (state !== "ready") continue;
          await succeed(world, ["review", id]);
          world.git("reset", "-q", "--hard", `${head}~1`);
          await succeed(world, ["promote", id]);
          expect([id, headOf(world)]).toEqual([id, head]);
        }
        expect(outcomes(await runsOf(world))).toEqual(expected(sequence));
      }),
      propertyRuns(3),
    );
  },
);

/** What failed with work is salvaged, what was rolled back opened again: both need all of their record. */
async function openAgain(world: World): Promise<void> {
  for (const { id, state, failure } of await runsOf(world)) {
    if (state === "rolled-back") await succeed(world, ["restore", id]);
    if (failure?.code === "missing-commit-message")
      await succeed(world, ["salvage", id, "--message", "Half"]);
  }
}

function outcomes(runs: readonly { readonly state: string }[]): readonly string[] {
  return runs.map(({ state }) => state).toSorted();
}

function expected(sequence: readonly Ending[]): readonly string[] {
  const end = (how: Ending): string =>
    how === "empty" ? "failed" : how === "discarded" ? "discarded" : "promoted";
  return sequence.map(end).toSorted();
}
