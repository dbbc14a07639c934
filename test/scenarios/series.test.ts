import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending, refuse, show, succeed } from "../rig/lifecycle.ts";
import { planOf } from "../rig/several.ts";
import { GOOD_AGENT, type World, makeWorld, runsOf } from "../rig/world.ts";

/** An agent that behaves in each run as the line of that number says; the scripted engine runs it on the host. */
function turns(world: World, ...scripts: readonly string[]): string {
  const counter = join(world.root, "counter");
  writeFileSync(counter, "0");
  const cases = scripts.map((script, index) => `${index + 1}) ${script}\n;;`).join("\n");
  return `n=$(($(cat ${counter}) + 1)); echo $n > ${counter}\ncase $n in\n${cases}\nesac`;
}

const FAIL = "exit 0";
const NO_PROGRESS = `${GOOD_AGENT}\ngit checkout -q HEAD -- docs/TASKS.md`;
const BLOCKED = `${GOOD_AGENT}\nmkdir -p .github/workflows; echo on: push > .github/workflows/ci.yml`;
const CHOICE = (id: string) =>
  `${GOOD_AGENT.replace(/id=\$\(awk[^\n]*/, `id=${id}`)}\ncp "$GUARDLOOP_PROMPT" prompt.txt`;

const head = (world: World) => world.git("rev-parse", "HEAD");
const states = async (world: World) =>
  (await runsOf(world)).map((run) => `${run.task ?? "-"} ${run.state}`).toReversed();

describe("stacked, the default", () => {
  test("each run builds on the last, is offered what is left, and ends when the plan is worked off", async () => {
    using world = makeWorld();
    const agent = turns(world, CHOICE("T1"), CHOICE("T2"));
    const ended = await world.run(agent, ["--max-tasks", "5"]);
    expect(ending(ended)).toBe("exit 0");
    expect(ended.stdout).toContain("The plan is worked off");
    expect(await states(world)).toEqual(["T1 ready", "T2 ready"]);
    const [second, first] = await runsOf(world);
    expect(first?.base).toBe(head(world));
    expect(second?.base).toBe(first?.head);
    expect((await show(world)).run.parentRun).toBe(first?.id);
    const offered = world.git("show", `${second?.branch}:prompt.txt`);
    expect(offered).toContain("`T2`");
    expect(offered).not.toContain("`T1`");
  });

  test("a run without progress ends the series, and is no failure", async () => {
    using world = makeWorld();
    const ended = await world.run(NO_PROGRESS, ["--max-tasks", "3"]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/made no progress.*--keep-going/);
    expect(await states(world)).toEqual(["T1 ready"]);
  });

  test("the first failure ends it and gives the exit status", async () => {
    using world = makeWorld();
    const agent = turns(world, CHOICE("T1"), FAIL, CHOICE("T2"));
    const ended = await world.run(agent, ["--max-tasks", "3"]);
    expect(ended.code).toBe(4);
    expect(ended.stdout).toMatch(/A run failed.*--keep-going/);
    expect(await states(world)).toEqual(["T1 ready", "- failed"]);
  });

  test("--keep-going goes on after failures and after no progress, and exits with the first failure", async () => {
    using world = makeWorld();
    planOf(world, 3);
    // Neither T1, which made no progress, nor T2, which failed, is offered again.
    const agent = turns(world, NO_PROGRESS, FAIL, CHOICE("T3"));
    const flags = ["--max-tasks", "3", "--keep-going", "--backoff-seconds", "0", "--json"];
    const ended = await world.run(agent, flags);
    expect(ended.code).toBe(4);
    expect(await states(world)).toEqual(["T1 ready", "- failed", "T3 ready"]);
    const last = JSON.parse(ended.stdout.trim().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({ version: 1, type: "end", exitStatus: 4 });
    expect(last.runs).toHaveLength(3);
    const [third, , first] = await runsOf(world);
    // A run that failed is not built upon: the third begins where the first ended.
    expect(third?.base).toBe(first?.head);
  });

  test("a branch with a blocking finding is not built upon", async () => {
    using world = makeWorld();
    const agent = turns(world, BLOCKED, CHOICE("T2"));
    const ended = await world.run(agent, ["--max-tasks", "2"]);
    expect(ending(ended)).toBe("exit 0");
    const [second, first] = await runsOf(world);
    expect(first?.state).toBe("ready");
    expect(second?.base).toBe(head(world));
    const { run } = await show(world);
    expect(run.parentRun).toBeNull();
    // Not built upon, so it can land without the other.
    await succeed(world, ["promote", run.id]);
  });

  test("a stack begins at the checkout again, and says which tasks wait for a decision", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    const again = await world.run(GOOD_AGENT);
    expect(again.code).toBe(0);
    expect(again.stderr).toMatch(/T1 has the open run .*promote or discard/);
    expect(await states(world)).toEqual(["T1 ready", "T1 ready"]);
  });
});

describe("--independent", () => {
  test("leaves out tasks with an open run, also one of an earlier invocation, until none is left", async () => {
    using world = makeWorld();
    const first = await world.run(CHOICE("T1"), ["--independent"]);
    expect(ending(first)).toBe("exit 0");
    const second = await world.run(CHOICE("T2"), ["--independent", "--max-tasks", "2"]);
    expect(ending(second)).toBe("exit 0");
    expect(second.stdout).toContain("The plan is worked off");
    for (const run of await runsOf(world)) expect(run.base).toBe(head(world));
    const [, open] = await runsOf(world);
    const args = ["run", "--agent", "command", "--independent", "--", "true"];
    const said = await refuse(world, args, { code: "no-runnable-task" });
    expect(said.details.join("\n")).toContain(`T1: has the open run ${open?.id}`);
    // A discarded run is not open: its task is offered again.
    await succeed(world, ["discard", open?.id ?? ""]);
    const again = await world.run(CHOICE("T1"), ["--independent"]);
    expect(ending(again)).toBe("exit 0");
  });
});

describe("--promote auto", () => {
  test("is announced, and lands each run of the stack", async () => {
    using world = makeWorld();
    const ended = await world.run(GOOD_AGENT, ["--max-tasks", "3", "--promote", "auto"]);
    expect(ending(ended)).toBe("exit 0");
    expect(ended.stderr).toMatch(/Promote auto/);
    expect(await states(world)).toEqual(["T1 promoted", "T2 promoted"]);
    expect(readFileSync(join(world.repo, "T2.txt"), "utf8")).toBe("work on T2\n");
    expect(world.git("status", "--porcelain")).toBe("");
    expect((await show(world)).promotion).toMatchObject({ why: "--promote auto", accepted: [] });
  });

  test("refuses a blocking finding: the run stays ready, the checkout as it was, the series ends", async () => {
    using world = makeWorld();
    const before = head(world);
    const ended = await world.run(BLOCKED, ["--max-tasks", "3", "--promote", "auto"]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("protected-ci");
    expect(await states(world)).toEqual(["T1 ready"]);
    expect(head(world)).toBe(before);
  });

  test("does not land over what the user did meanwhile", async () => {
    using world = makeWorld();
    const agent = `${GOOD_AGENT}\necho mine > ${join(world.repo, "mine.txt")}`;
    const before = head(world);
    const ended = await world.run(agent, ["--promote", "auto"]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("mine.txt");
    expect(head(world)).toBe(before);
    expect(existsSync(join(world.repo, "T1.txt"))).toBe(false);
    expect(await states(world)).toEqual(["T1 ready"]);
  });

  test("in the repository's own file it needs trust", async () => {
    using world = makeWorld();
    world.write("guardloop.toml", '[run]\npromote = "auto"\n');
    const before = world.commit("Promote by itself");
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/run\.promote.*guardloop trust/);
    expect(head(world)).toBe(before);
  });
});

test.each(["0", "-1", "2.5", "many", "1001", ""])("--max-tasks %j is refused", async (number) => {
  using world = makeWorld();
  const args = ["run", "--agent", "command", `--max-tasks=${number}`, "--", "true"];
  const said = await refuse(world, args, { code: "config-invalid", status: 2 });
  expect(said.message).toContain("--max-tasks");
});

test("--independent with --promote auto and several tasks is refused before anything is made", async () => {
  using world = makeWorld();
  const flags = ["--independent", "--promote", "auto", "--max-tasks", "2"];
  const refused = await world.run(GOOD_AGENT, flags);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("contradict each other");
  expect(await runsOf(world)).toEqual([]);
  expect((await world.run(GOOD_AGENT, flags.slice(0, 3))).code).toBe(0);
});
