import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending } from "../rig/lifecycle.ts";
import { expectNoProgramLeft } from "../rig/orphans.ts";
import {
  FINISH,
  GOOD_AGENT,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
  installAgent,
} from "../rig/world.ts";

/** Three seconds. */
const SOON = ["--completion-minutes", "0.05"];
const FOREVER = "while :; do sleep 0.2; done";

async function findingsOf(world: World): Promise<Record<string, string>> {
  const review = await world.guardloop(["review", "@last", "--json"]);
  const { findings } = JSON.parse(review.stdout) as { findings: { code: string; why: string }[] };
  return Object.fromEntries(findings.map(({ code, why }) => [code, why]));
}

/** A program `claude` on the world's PATH that does what a shell script says. */

const said = (event: object): string => `printf '%s\\n' '${JSON.stringify(event)}'`;
const RESULT = said({ type: "result", subtype: "success", is_error: false, usage: {} });
const MESSAGE = said({
  type: "assistant",
  message: { content: [{ type: "text", text: "More." }] },
});

function runClaude(world: World, flags: readonly string[]) {
  return world.guardloop(["run", "--agent", "claude", "--network", "bridge", ...flags]);
}

describe.each(["scripted", "docker"] as const)("on the %s engine, an agent", (engine) => {
  test("that left its artifacts and whose process stays is ended, and its work imported", async () => {
    using world = makeWorld(engine);
    const before = checkoutDigest(world);
    const ended = await world.run(`${GOOD_AGENT}\n${FOREVER}`, SOON);
    expect(ending(ended)).toBe("exit 0");
    expect(ended.stderr).toContain("was done, did not end, and was ended");
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ state: "ready", task: "T1" });
    expect(world.git("show", `${run?.branch ?? ""}:T1.txt`)).toBe("work on T1");
    expect(await findingsOf(world)).toEqual({
      "did-not-end":
        "The agent had left the files that are required, was silent for 3 seconds, and was ended.",
    });
    expect(leftovers(world)).toEqual([]);
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    await expectNoProgramLeft(world);
  });
});

describe("an agent", () => {
  test("that goes on printing is not taken for done, and the wall clock ends it", async () => {
    using world = makeWorld();
    await world.run(`${GOOD_AGENT}\nwhile :; do echo busy; sleep 0.2; done`, [
      ...SOON,
      "--wall-minutes",
      "0.15",
    ]);
    expect((await runsOf(world))[0]?.failure?.code).toBe("agent-wall-limit");
  });

  test("that left only one of its files is not taken for done", async () => {
    using world = makeWorld();
    await world.run(`echo T1 > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"; ${FOREVER}`, [
      ...SOON,
      "--idle-minutes",
      "0.15",
    ]);
    expect((await runsOf(world))[0]?.failure?.code).toBe("agent-idle-limit");
  });

  test("that said it is done is ended, whatever a program that it left running prints", async () => {
    using world = makeWorld();
    installAgent(
      world,
      "claude",
      `${GOOD_AGENT}\n${RESULT}\nwhile :; do echo served; sleep 0.2; done`,
    );
    expect(ending(await runClaude(world, SOON))).toBe("exit 0");
    expect((await findingsOf(world))["did-not-end"]).toBe(
      "The agent had said that it was done, did not end, and was ended after 3 seconds.",
    );
    await expectNoProgramLeft(world);
  });

  test("that does more after it said so has all the time that it needs", async () => {
    using world = makeWorld();
    const more = `for n in 1 2 3 4 5 6 7 8 9 10; do ${MESSAGE}; sleep 0.5; done`;
    installAgent(
      world,
      "claude",
      `${GOOD_AGENT}\n${RESULT}\n${more}\necho last > last.txt\n${RESULT}`,
    );
    expect(ending(await runClaude(world, SOON))).toBe("exit 0");
    const [run] = await runsOf(world);
    expect(world.git("show", `${run?.branch ?? ""}:last.txt`)).toBe("last");
    expect(await findingsOf(world)).not.toHaveProperty("did-not-end");
  });

  test("that said it is done without its artifacts fails by their name, and when is said", async () => {
    using world = makeWorld();
    installAgent(world, "claude", `echo half > half.txt\n${RESULT}\n${FOREVER}`);
    const ended = await runClaude(world, SOON);
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain(
      "The agent did not leave selected-task-id.txt. The agent had said that it was done, did not end",
    );
    expect(ended.stderr).toContain("salvaged: 1 patch");
    expect(leftovers(world)).toEqual([]);
  });
});

describe("an export that hangs", () => {
  /** The guest's Git waits once, when the agent has asked for it. */
  function hangingGit(world: World): string {
    const hang = join(world.root, "hang");
    const script = `#!/bin/sh
case "$GIT_DIR" in
*/own.git) if [ -e "${hang}" ]; then rm "${hang}"; exec sleep 30; fi ;;
esac
exec /usr/bin/git "$@"
`;
    writeFileSync(join(world.bin, "git"), script, { mode: 0o755 });
    return hang;
  }

  test("is ended after the same time, and salvage gets the work out", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const hang = hangingGit(world);
    // Neither of the other clocks may end a run whose agent has ended.
    const ended = await world.run(`${FINISH} echo half > half.txt; touch ${hang}`, [
      ...SOON,
      "--idle-minutes",
      "0.03",
    ]);
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run?.failure).toMatchObject({ code: "agent-completion-limit" });
    expect(run?.failure?.message).toBe(
      "The agent had ended, and the export of its work was ended after 3 seconds, unfinished.",
    );
    expect(ended.stderr).toContain("salvaged: 1 patch");
    expect(leftovers(world)).toEqual([]);
    rmSync(join(world.bin, "git"));
    expect(checkoutDigest(world)).toBe(before);
  });
});
