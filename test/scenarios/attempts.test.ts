import { describe, expect, test } from "vitest";
import { ending, refuse, succeed } from "../rig/lifecycle.ts";
import { ASSIGNED, ASSIGNED_AGENT, DO_IT, meetingIn, tasksAndStates } from "../rig/several.ts";
import { type World, installAgent, makeWorld, runsOf } from "../rig/world.ts";

interface Compared {
  readonly id: string;
  readonly task: string;
  readonly state: string;
  readonly agent: string;
  readonly attempt: { readonly group: string; readonly number: number; readonly of: number } | null;
  readonly validation: string;
  readonly failure: string | null;
  readonly change: { readonly files: number; readonly addedLines: number } | null;
  readonly findings: { readonly warn: number } | null;
  readonly tokens: { readonly input: number } | null;
  readonly costUsd: number | null;
}

async function compared(world: World, ...args: readonly string[]): Promise<readonly Compared[]> {
  const ended = await succeed(world, ["compare", ...args, "--json"]);
  return (JSON.parse(ended.stdout) as { runs: readonly Compared[] }).runs;
}

/** Programs with the names of hosted agents, which do the task and tell what it cost; the scripted engine finds them. */
function installAgents(world: World): Record<string, string> {
  const usage = {
    codex: `{"type":"turn.completed","usage":{"input_tokens":400,"cached_input_tokens":160,"output_tokens":40}}`,
    claude: `{"type":"result","subtype":"success","total_cost_usd":0.25,"usage":{"input_tokens":100,"cache_read_input_tokens":50,"output_tokens":7}}`,
  };
  for (const name of ["codex", "claude"] as const)
    installAgent(world, name, `${ASSIGNED_AGENT}\necho '${usage[name]}'`);
  return { SOME_KEY: "0123456789abcdef" };
}

describe("run --attempts", () => {
  test("runs one task several times on one base, and compare shows them side by side", async () => {
    using world = makeWorld();
    const agent = `${ASSIGNED_AGENT}\nif [ ! -e "${world.root}/seen" ]; then touch "${world.root}/seen"; echo more > more.txt; fi`;
    const flags = ["--attempts", "2", "--validate", "small: test ! -e more.txt"];
    const ended = await world.run(agent, flags);
    // The first fails its validation; the second is made all the same.
    expect(ended.code).toBe(4);
    expect(ended.stdout).toContain("2 attempts were asked for.");
    expect(ended.stdout).toContain("guardloop compare");
    expect(await tasksAndStates(world)).toEqual(["T1 ready", "T1 ready"]);
    const [second, first] = await runsOf(world);
    expect(second?.base).toBe(first?.base);
    const runs = await compared(world);
    const group = first?.id;
    expect(runs).toMatchObject([
      {
        id: first?.id,
        attempt: { group, number: 1, of: 2 },
        validation: "failed",
        change: { files: 3 },
      },
      {
        id: second?.id,
        attempt: { group, number: 2, of: 2 },
        validation: "passed",
        change: { files: 2 },
      },
    ]);
    const shown = (await succeed(world, ["compare"])).stdout;
    expect(shown).toMatch(new RegExp(`^RUN +${first?.id} +${second?.id}`, "m"));
    expect(shown).toMatch(/^VALIDATION +failed +passed/m);
    expect(shown).toMatch(/^CHANGE +3 files \+\d+ -1 +2 files \+2 -1/m);
    expect(shown).toContain("The others stay ready until you discard them");
    expect(shown).not.toMatch(/^(TOKENS|COST)/m);
  });

  test("once one has landed, promote and compare name those that are left, and how to drop them", async () => {
    using world = makeWorld();
    await world.run(ASSIGNED_AGENT, ["--attempts", "3", "--parallel", "3"]);
    const [third, second, first] = await runsOf(world);
    const promoted = await succeed(world, ["promote", second?.id ?? ""]);
    for (const said of [promoted, await succeed(world, ["compare"])]) {
      expect(said.stdout).toContain(
        `Run ${second?.id} was promoted. 2 more attempts are still ready`,
      );
      expect(said.stdout).toContain(`guardloop discard ${first?.id}`);
      expect(said.stdout).toContain(`guardloop discard ${third?.id}`);
    }
    expect(await tasksAndStates(world)).toEqual(["T1 promoted", "T1 ready", "T1 ready"]);
    for (const run of [first, third]) await succeed(world, ["discard", run?.id ?? ""]);
    expect((await succeed(world, ["compare"])).stdout).toContain(
      "None of them waits for a decision.",
    );
  });

  test("at once, up to --parallel", async () => {
    using world = makeWorld();
    const meeting = meetingIn(world);
    const agent = [ASSIGNED, meeting.enter, meeting.until(2), DO_IT, meeting.leave].join("\n");
    const ended = await world.run(agent, ["--attempts", "3", "--parallel", "2", "--task", "T2"]);
    expect(ending(ended)).toBe("exit 0");
    expect(meeting.most()).toBe(2);
    expect(await tasksAndStates(world)).toEqual(["T2 ready", "T2 ready", "T2 ready"]);
    expect(ended.stderr).toMatch(/^T2#3 .*attempt 3 of 3, agent command/m);
    const runs = await compared(world, "--task", "T2");
    expect(runs.map((run) => run.attempt?.number)).toEqual([1, 2, 3]);
    // One of them means all of them; the page of a run says so.
    expect(await compared(world, runs[1]?.id ?? "")).toEqual(runs);
    const page = await succeed(world, ["show", runs[1]?.id ?? ""]);
    expect(page.stdout).toContain(`2 of 3; see them all: guardloop compare ${runs[1]?.id}`);
  });

  test("several agents take turns, and what each says of its use of the model is shown", async () => {
    using world = makeWorld();
    const env = installAgents(world);
    const args = ["run", "--agent", "codex,claude", "--network", "bridge"];
    const both = await world.guardloop([...args, "--pass-env", "SOME_KEY"], { env });
    expect(ending(both)).toBe("exit 0");
    expect(await compared(world)).toMatchObject([
      { agent: "codex", tokens: { input: 400 }, costUsd: null },
      { agent: "claude", tokens: { input: 150 }, costUsd: 0.25 },
    ]);
    const shown = (await succeed(world, ["compare"])).stdout;
    expect(shown).toMatch(/^AGENT +codex +claude/m);
    expect(shown).toMatch(/^COST +- +\$0\.25/m);
    const three = await world.guardloop([...args, "--attempts", "3"], { env });
    expect(ending(three)).toBe("exit 0");
    expect((await compared(world)).map((run) => run.agent)).toEqual(["codex", "claude", "codex"]);
  });

  test("a failed attempt is shown with its failure, and compare takes any runs", async () => {
    using world = makeWorld();
    await world.run("exit 0", ["--attempts", "2", "--backoff-seconds", "0"]);
    await world.run(ASSIGNED_AGENT);
    const runs = await compared(world);
    expect(runs.map((run) => [run.state, run.failure, run.change])).toEqual([
      ["failed", "missing-task-id", null],
      ["failed", "missing-task-id", null],
    ]);
    const [newest, other] = await runsOf(world);
    const named = await compared(world, newest?.id ?? "", other?.id ?? "");
    expect(named.map((run) => run.state)).toEqual(["ready", "failed"]);
  });

  test.each([
    ["--attempts 2 --max-tasks 3", "--max-tasks asks for several"],
    ["--attempts 2 --task T1 --task T2", "--task names several"],
    ["--attempts 2 --promote auto", "contradict each other"],
    ["--attempts 1 --agent command,command", "2 agents are named for 1 of --attempts"],
    ["--agent command,codex", "network mode is none"],
    ["--agent command,codex --model small-1", "do not take the same model"],
    ["--agent command,nobody", "expected one of command, codex, claude"],
  ])("%s is refused before anything is made", async (flags, message) => {
    using world = makeWorld();
    const args = ["run", "--agent", "command", ...flags.split(" "), "--", "true"];
    const ended = await world.guardloop(args);
    expect([2, 3]).toContain(ended.code);
    expect(ended.stderr).toContain(message);
    expect(await runsOf(world)).toEqual([]);
  });
});

test("compare without attempts, with an unknown task, and with both says what to do", async () => {
  using world = makeWorld();
  const at = { status: 2, code: "unknown-run" };
  expect((await refuse(world, ["compare"], at)).cure).toContain("--attempts 2");
  await refuse(world, ["compare", "--task", "T9"], at);
  await refuse(world, ["compare", "@last", "--task", "T1"], { status: 2, code: "usage" });
});
