import { describe, expect, test } from "vitest";
import { ending, refuse } from "../rig/lifecycle.ts";
import { ASSIGNED, ASSIGNED_AGENT, DO_IT, planOf, tasksAndStates } from "../rig/several.ts";
import { type World, agentRuns, makeWorld, runsOf } from "../rig/world.ts";

const AT_ONCE = ["--keep-going", "--backoff-seconds", "0"];

async function reasonsOf(world: World): Promise<ReadonlyMap<string, string | null>> {
  const listed = await world.guardloop(["tasks", "--json"]);
  const { tasks } = JSON.parse(listed.stdout) as {
    tasks: readonly { readonly id: string; readonly notRunnable: string | null }[];
  };
  return new Map(tasks.map((task) => [task.id, task.notRunnable]));
}

describe("within an invocation", () => {
  test("--max-failures ends a series that keeps going, and says so", async () => {
    using world = makeWorld();
    planOf(world, 5);
    const flags = [...AT_ONCE, "--max-tasks", "5", "--max-failures", "2"];
    const ended = await world.run("exit 0", flags);
    expect(ended.code).toBe(4);
    expect(ended.stdout).toContain("2 runs failed, as many as --max-failures allows.");
    expect(agentRuns(world)).toHaveLength(2);
  });

  test("a task that failed is not offered again, so one that always fails stops nobody", async () => {
    using world = makeWorld();
    planOf(world, 3);
    const agent = `${ASSIGNED}\nif [ $id = T1 ]; then exit 0; fi\n${DO_IT}`;
    const ended = await world.run(agent, [...AT_ONCE, "--max-tasks", "9"]);
    expect(ended.code).toBe(4);
    expect(await tasksAndStates(world)).toEqual(["- failed", "T2 ready", "T3 ready"]);
    expect(ended.stdout).toContain("Nothing else can be run now: T1 failed or made no progress");
  });

  test("neither is one that made no progress, or whose result failed its validation", async () => {
    using world = makeWorld();
    planOf(world, 3);
    const undo = "git checkout -q HEAD -- docs/TASKS.md";
    const agent = `${ASSIGNED_AGENT}\nif [ $id = T1 ]; then ${undo}; fi`;
    const flags = [...AT_ONCE, "--max-tasks", "9", "--validate", "no-two: test ! -e T2.txt"];
    const ended = await world.run(agent, flags);
    expect(ended.code).toBe(4);
    expect(await tasksAndStates(world)).toEqual(["T1 ready", "T2 ready", "T3 ready"]);
    expect(ended.stdout).toContain("T1, T2 failed or made no progress");
  });

  test("what is not the task's fault may be tried again: the engine refuses once, then it works", async () => {
    using world = makeWorld();
    world.faults({ runRefused: true });
    let pid = 0;
    const ended = await world.run(
      ASSIGNED_AGENT,
      ["--keep-going", "--max-tasks", "2", "--backoff-seconds", "0.1", "--task", "T1"],
      {
        onStart: (id) => (pid = id),
        onStderr: (text) => {
          if (text.includes("Waiting 0.1 s after the failure")) world.faults({});
        },
      },
    );
    expect(pid).toBeGreaterThan(0);
    expect(ended.code).toBe(1);
    expect(await tasksAndStates(world)).toEqual(["- failed", "T1 ready"]);
  });
});

describe("the wait between failures", () => {
  test("is doubled up to its limit, is said in one line each, and comes only before a next run", async () => {
    using world = makeWorld();
    planOf(world, 4);
    const ended = await world.run("exit 0", [
      "--keep-going",
      "--max-tasks",
      "4",
      "--backoff-seconds",
      "0.1",
      "--backoff-max-seconds",
      "0.2",
    ]);
    expect(
      [...ended.stderr.matchAll(/Waiting (\S+) s after (.*) before/g)].map((one) => one.slice(1)),
    ).toEqual([
      ["0.1", "the failure"],
      ["0.2", "2 failures in a row"],
      ["0.2", "3 failures in a row"],
    ]);
    expect(await runsOf(world)).toHaveLength(4);
  });

  test("is not begun when nothing is left to run", async () => {
    using world = makeWorld();
    planOf(world, 1);
    const ended = await world.run("exit 0", ["--keep-going", "--max-tasks", "4"]);
    expect(ended.stderr).not.toContain("Waiting");
    expect(await runsOf(world)).toHaveLength(1);
  });

  test("is ended by Ctrl-C at once: no further run begins", async () => {
    using world = makeWorld();
    planOf(world, 3);
    let pid = 0;
    const flags = ["--keep-going", "--max-tasks", "3", "--backoff-seconds", "86400"];
    const ended = await world.run("exit 0", [...flags, "--backoff-max-seconds", "86400"], {
      onStart: (id) => (pid = id),
      onStderr: (text) => {
        if (text.includes("Waiting 86400 s")) process.kill(pid, "SIGINT");
      },
    });
    expect(ended.stdout).toContain("Interrupted.");
    expect(await runsOf(world)).toHaveLength(1);
  });
});

describe("across invocations", () => {
  test("a task that failed three times in a row is given up, says why, and is run again by name", async () => {
    using world = makeWorld();
    planOf(world, 2);
    for (let time = 1; time <= 3; time += 1) {
      expect((await reasonsOf(world)).get("T1")).toBeNull();
      await world.run("exit 0");
    }
    const [last] = await runsOf(world);
    expect((await reasonsOf(world)).get("T1")).toContain(
      `failed 3 times in a row, last in run ${last?.id}; name it with --task T1`,
    );
    const next = await world.run(ASSIGNED_AGENT);
    expect(ending(next)).toBe("exit 0");
    expect((await runsOf(world))[0]).toMatchObject({ task: "T2", state: "ready" });
    const args = ["run", "--independent", "--agent", "command", "--", "true"];
    const said = await refuse(world, args, { code: "no-runnable-task" });
    expect(said.details[0]).toContain(`last in run ${last?.id}`);
    const again = await world.run(ASSIGNED_AGENT, ["--task", "T1"]);
    expect(ending(again)).toBe("exit 0");
    // It came to a branch, so the row of failures has ended.
    expect((await reasonsOf(world)).get("T1")).toBeNull();
  });

  test("failures that say nothing about the task do not count, and 0 never gives up", async () => {
    using world = makeWorld();
    planOf(world, 1);
    world.faults({ runRefused: true });
    await world.run("exit 0", ["--give-up-after", "1"]);
    world.faults({});
    await world.run("exit 0", ["--give-up-after", "1"]);
    expect(await runsOf(world)).toHaveLength(2);
    const args = ["run", "--give-up-after", "1", "--agent", "command", "--", "true"];
    await refuse(world, args, { code: "no-runnable-task" });
    expect((await world.run(ASSIGNED_AGENT, ["--give-up-after", "0"])).code).toBe(0);
  });
});
