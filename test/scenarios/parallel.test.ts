import { execFileSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ending, refuse, show, succeed } from "../rig/lifecycle.ts";
import {
  ASSIGNED,
  ASSIGNED_AGENT,
  DO_IT,
  meetingIn,
  planOf,
  tasksAndStates,
} from "../rig/several.ts";
import {
  type World,
  agentRuns,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

const AGENT_BRANCHES = /^refs\/heads\/agent\//;
const NOW = ["--backoff-seconds", "0"];

describe("run --parallel", () => {
  test("makes N runs at once and never more, each with a task, a container and a lease of its own", async () => {
    using world = makeWorld();
    planOf(world, 5);
    const before = checkoutDigest(world);
    const meeting = meetingIn(world);
    const agent = [ASSIGNED, meeting.enter, meeting.until(2), DO_IT, meeting.leave].join("\n");
    const ended = await world.run(agent, ["--parallel", "2", "--max-tasks", "4"]);
    expect(ending(ended)).toBe("exit 0");
    expect(meeting.most()).toBe(2);
    expect(await tasksAndStates(world)).toEqual(["T1 ready", "T2 ready", "T3 ready", "T4 ready"]);
    const head = world.git("rev-parse", "HEAD");
    for (const run of await runsOf(world)) {
      expect(run.base).toBe(head);
      expect(world.git("show", `${run.branch}:${run.task}.txt`)).toBe(`work on ${run.task}`);
    }
    const leases = [...ended.stderr.matchAll(/lease +ok .* (\/\S+)/g)].map(([, path]) => path);
    expect(leases).toHaveLength(4);
    expect(new Set(leases).size).toBeLessThanOrEqual(3);
    expect(checkoutDigest(world, AGENT_BRANCHES)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  test("takes N tasks without --max-tasks, and never more than the plan has", async () => {
    using world = makeWorld();
    planOf(world, 3);
    const two = await world.run(ASSIGNED_AGENT, ["--parallel", "2"]);
    expect(two.stdout).toContain("2 tasks were asked for.");
    const rest = await world.run(ASSIGNED_AGENT, ["--parallel", "4"]);
    expect(ending(rest)).toBe("exit 0");
    expect(rest.stdout).toContain("The plan is worked off");
    expect(await tasksAndStates(world)).toEqual(["T1 ready", "T2 ready", "T3 ready"]);
    expect(agentRuns(world)).toHaveLength(3);
  });

  test("each line of the log says whose it is, and the table is in the order of the tasks", async () => {
    using world = makeWorld();
    planOf(world, 2);
    const ended = await world.run(ASSIGNED_AGENT, ["--parallel", "2"]);
    for (const task of ["T1", "T2"])
      for (const stage of ["lease", "agent", "review"])
        expect(ended.stderr).toMatch(new RegExp(`^${task} +${stage} +ok`, "m"));
    expect(ended.stdout).toMatch(/^\S+ +T1 [^]*^\S+ +T2 /m);
    expect(ended.stdout).toMatch(/Then the next: guardloop promote \S+ --rebase/);
  });

  test("in JSON every event names its run", async () => {
    using world = makeWorld();
    planOf(world, 2);
    const ended = await world.run(ASSIGNED_AGENT, ["--parallel", "2", "--json"]);
    const lines = ended.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const events = lines.filter((line) => line.type === "event");
    const created = events.filter(({ event }) => event.type === "run-created");
    expect(created.map(({ event }) => event.claims)).toEqual([["T1"], ["T2"]]);
    expect(new Set(events.map(({ run }) => run)).size).toBe(2);
    expect(lines.at(-1).runs).toEqual(created.map(({ run }) => run));
  });

  test("when one of three fails no further run begins, and the others come to their own end", async () => {
    using world = makeWorld();
    planOf(world, 5);
    const meeting = meetingIn(world);
    const agent = [
      ASSIGNED,
      meeting.enter,
      meeting.until(3),
      `if [ $id = T1 ]; then exit 0; fi`,
      meeting.untilOpen("failed"),
      DO_IT,
    ].join("\n");
    let log = "";
    const ended = await world.run(agent, ["--parallel", "3", "--max-tasks", "5", ...NOW], {
      onStderr: (text) => {
        log += text;
        if (/^T1 +release +ok/m.test(log)) meeting.open("failed");
      },
    });
    expect(ended.code).toBe(4);
    expect(ended.stdout).toContain("A run failed; pass --keep-going");
    expect(await tasksAndStates(world)).toEqual(["- failed", "T2 ready", "T3 ready"]);
    // The table knows what the failed one was for, although it never said so.
    expect(ended.stdout).toMatch(/T1 +missing-task-id/);
    expect(leftovers(world)).toEqual([]);
  });

  test("Ctrl-C ends all of them in order: work salvaged, leases returned, nothing left", async () => {
    using world = makeWorld();
    planOf(world, 4);
    const before = checkoutDigest(world);
    const meeting = meetingIn(world);
    const agent = [ASSIGNED, `echo half > $id.txt`, meeting.enter, "while :; do sleep 0.1; done"];
    let pid = 0;
    const running = world.run(
      agent.join("\n"),
      ["--parallel", "2", "--max-tasks", "4", "--keep-going"],
      { onStart: (id) => (pid = id) },
    );
    await meeting.entered(2);
    process.kill(pid, "SIGINT");
    const ended = await running;
    expect(ended.code).toBe(130);
    expect(ended.stdout).toContain("Interrupted.");
    expect(await tasksAndStates(world)).toEqual(["- interrupted", "- interrupted"]);
    expect(ended.stderr.match(/salvaged: 1 patch is kept/g)).toHaveLength(2);
    expect(leftovers(world)).toEqual([]);
    expect(checkoutDigest(world)).toBe(before);
  });

  test("killed as a whole it is recovered as a whole, and its tasks can be taken at once", async () => {
    using world = makeWorld();
    planOf(world, 2);
    const before = checkoutDigest(world);
    const meeting = meetingIn(world);
    const agent = [ASSIGNED, `echo half > $id.txt`, meeting.enter, meeting.untilOpen("never")];
    let pid = 0;
    const running = world.run(agent.join("\n"), ["--parallel", "2"], {
      onStart: (id) => (pid = id),
    });
    await meeting.entered(2);
    process.kill(pid, "SIGKILL");
    await running;
    const next = await world.run(ASSIGNED_AGENT, ["--parallel", "2"]);
    expect(ending(next)).toBe("exit 0");
    expect(next.stderr.match(/was ended: its owner died in the stage agent/g)).toHaveLength(2);
    expect(await tasksAndStates(world)).toEqual([
      "- interrupted",
      "- interrupted",
      "T1 ready",
      "T2 ready",
    ]);
    expect(leftovers(world)).toEqual([]);
    expect(checkoutDigest(world, AGENT_BRANCHES)).toBe(before);
  });

  test("with --promote auto is refused before anything is made", async () => {
    using world = makeWorld();
    const args = [
      "run",
      "--agent",
      "command",
      "--parallel",
      "2",
      "--promote",
      "auto",
      "--",
      "true",
    ];
    const said = await refuse(world, args, { code: "config-invalid", status: 2 });
    expect(said.message).toContain("contradict each other");
    expect(await runsOf(world)).toEqual([]);
  });
});

describe("run --task", () => {
  test("offers only what is named, in a stack also what waits for another that is named", async () => {
    using world = makeWorld();
    world.write(
      "docs/TASKS.md",
      "# Plan\n\n## T1 — One\n\nStatus: ready\n\n## T2 — Two\n\nStatus: ready\n\n## T3 — Three\n\nStatus: ready\n\nDependencies:\n- T2\n",
    );
    world.commit("A plan");
    const ended = await world.run(ASSIGNED_AGENT, ["--task", "T2", "--task", "T3"]);
    expect(ending(ended)).toBe("exit 0");
    expect(await tasksAndStates(world)).toEqual(["T2 ready", "T3 ready"]);
  });

  test.each([
    [["--task", "T9"], "unknown-task", 2, "The task plan (docs/TASKS.md) has no task T9."],
    [["--task", "t1"], "unknown-task", 2, "docs/TASKS.md:3 has T1: case counts."],
    [
      ["--task", "T3"],
      "no-runnable-task",
      3,
      "docs/TASKS.md:14: task T3 cannot be run: it is done.",
    ],
  ])("%j is refused with file and line", async (flags, code, status, message) => {
    using world = makeWorld();
    const args = ["run", "--agent", "command", ...flags, "--", "true"];
    const said = await refuse(world, args, { code, status });
    expect(said.message).toContain(message);
    expect(await runsOf(world)).toEqual([]);
  });
});

test("eight runs at once leave the same branches as eight in a row", async () => {
  const treesAfter = async (flags: readonly string[]): Promise<Record<string, string>> => {
    using world = makeWorld();
    planOf(world, 8);
    expect(ending(await world.run(ASSIGNED_AGENT, [...flags, "--memory", "512m"]))).toBe("exit 0");
    const runs = await runsOf(world);
    return Object.fromEntries(
      runs.map((run) => [run.task ?? "-", world.git("rev-parse", `${run.branch ?? ""}^{tree}`)]),
    );
  };
  const inARow = await treesAfter(["--independent", "--max-tasks", "8"]);
  expect(Object.keys(inARow)).toHaveLength(8);
  expect(await treesAfter(["--parallel", "8"])).toEqual(inARow);
});

test("on a real engine two containers of one invocation are there at once", async () => {
  using world = makeWorld("docker");
  const agent = `${ASSIGNED}\nwhile [ ! -e /tmp/go ]; do sleep 0.1; done\n${DO_IT}`;
  const running = world.run(agent, ["--parallel", "2", "--max-containers", "2"]);
  let containers: readonly string[] = [];
  while (containers.length < 2) {
    await delay(100);
    containers = await containersOf(world);
  }
  for (const name of containers) execFileSync("docker", ["exec", name, "touch", "/tmp/go"]);
  expect(ending(await running)).toBe("exit 0");
  expect(await tasksAndStates(world)).toEqual(["T1 ready", "T2 ready"]);
  expect(leftovers(world)).toEqual([]);
  expect(await containersOf(world)).toEqual([]);
  const [, first] = await runsOf(world);
  await succeed(world, ["promote", first?.id ?? ""]);
  expect((await show(world, first?.id)).run.state).toBe("promoted");
});

async function containersOf(world: World): Promise<readonly string[]> {
  const ids = (await runsOf(world)).map((run) => run.id);
  const names = execFileSync("docker", ["ps", "--format", "{{.Names}}"], { encoding: "utf8" });
  return names.split("\n").filter((name) => ids.some((id) => name === `guardloop-${id}-agent`));
}
