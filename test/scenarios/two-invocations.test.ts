import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RunRecord } from "../../src/core/run-record.ts";
import { openHistory } from "../../src/history/sqlite.ts";
import { ROOT } from "../docs/documents.ts";
import { ending, refuse, succeed } from "../rig/lifecycle.ts";
import {
  ASSIGNED,
  ASSIGNED_AGENT,
  DO_IT,
  meetingIn,
  planOf,
  tasksAndStates,
} from "../rig/several.ts";
import { type World, agentRuns, leftovers, makeWorld, runsOf } from "../rig/world.ts";

describe("two invocations in one repository", () => {
  test("a second one is refused while a stacked run has every task, and says which run and what to do", async () => {
    using world = makeWorld();
    const meeting = meetingIn(world);
    const running = world.run([ASSIGNED, meeting.enter, meeting.untilOpen("go"), DO_IT].join("\n"));
    await meeting.entered(1);
    const [run] = await runsOf(world);
    for (const flags of [[], ["--independent"]]) {
      const args = ["run", "--agent", "command", ...flags, "--", "true"];
      const said = await refuse(world, args, { code: "tasks-claimed" });
      expect(said.message).toContain(`is being done by run ${run?.id} (process `);
      expect(said.cure).toContain("--independent");
    }
    expect(await runsOf(world)).toHaveLength(1);
    meeting.open("go");
    expect(ending(await running)).toBe("exit 0");
  });

  test("with --independent in both each gets a task of its own, and both work at the same time", async () => {
    using world = makeWorld();
    planOf(world, 2);
    const meeting = meetingIn(world);
    const agent = [ASSIGNED, meeting.enter, meeting.until(2), DO_IT, meeting.leave].join("\n");
    const both = await Promise.all([
      world.run(agent, ["--independent"]),
      world.run(agent, ["--independent"]),
    ]);
    expect(both.map((one) => ending(one))).toEqual(["exit 0", "exit 0"]);
    expect(meeting.most()).toBe(2);
    expect(await tasksAndStates(world)).toEqual(["T1 ready", "T2 ready"]);
    expect(leftovers(world)).toEqual([]);
  });

  test("work off one plan together without taking a task twice", async () => {
    using world = makeWorld();
    planOf(world, 6);
    const flags = ["--parallel", "2", "--max-tasks", "6"];
    const both = await Promise.all([
      world.run(ASSIGNED_AGENT, flags),
      world.run(ASSIGNED_AGENT, flags),
    ]);
    for (const one of both) expect(one.stderr).not.toContain("failed");
    expect(await tasksAndStates(world)).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => `T${number} ready`),
    );
    expect(agentRuns(world)).toHaveLength(6);
    expect(leftovers(world)).toEqual([]);
  });

  test("once the agent of a stacked run has said which task it took, the others are free", async () => {
    using world = makeWorld();
    planOf(world, 2);
    const meeting = meetingIn(world);
    // The first run is held in its validation, when its choice is known.
    const validate = `hold: ${meeting.enter}; ${meeting.untilOpen("go")}`;
    const running = world.run(ASSIGNED_AGENT, ["--validate", validate]);
    await meeting.entered(1);
    const second = await world.run(ASSIGNED_AGENT);
    expect(ending(second)).toBe("exit 0");
    meeting.open("go");
    expect(ending(await running)).toBe("exit 0");
    expect(await tasksAndStates(world)).toEqual(["T1 ready", "T2 ready"]);
  });
});

test("two repositories at once share nothing but the history", async () => {
  using world = makeWorld();
  const other = join(world.root, "other");
  execFileSync("git", ["clone", "-q", world.repo, other], { env: world.env });
  const meeting = meetingIn(world);
  const agent = [ASSIGNED, meeting.enter, meeting.until(2), DO_IT, meeting.leave].join("\n");
  const both = await Promise.all([world.run(agent), world.run(agent, [], { cwd: other })]);
  expect(both.map((one) => ending(one))).toEqual(["exit 0", "exit 0"]);
  expect(meeting.most()).toBe(2);
  expect(await tasksAndStates(world)).toEqual(["T1 ready"]);
  const all = JSON.parse((await succeed(world, ["runs", "--all", "--json"])).stdout);
  expect(all.runs.map((run: { task: string }) => run.task)).toEqual(["T1", "T1"]);
  expect(leftovers(world)).toEqual([]);
});

/** Takes tasks until none is free, and prints each; a process of its own, as a second terminal is. */
const TAKER = `
const [history, claims, owner] = await Promise.all(
  ["history/sqlite.js", "run/choice/claims.js", "process/owner.js"].map((file) => import(process.env.DIST + file)),
);
const opened = history.openHistory(process.env.STATE, () => new Date());
if (!opened.ok) throw new Error(opened.error.message);
const me = owner.ownerOf(process.pid, process.env.HOST);
const tasks = Array.from({ length: 12 }, (_, index) => "T" + index);
process.stdin.once("data", () => {
  for (let number = 0; ; number += 1) {
    const taken = opened.value.exclusively(() => {
      const living = claims.livingClaims(opened.value, { repositoryId: "r", host: process.env.HOST });
      const free = tasks.find((task) => !living.has(task));
      if (free !== undefined)
        opened.value.append(process.pid + "-" + number, {
          type: "run-created", repositoryId: "r", topLevel: "/", branch: "main", base: "0", parentRun: null,
          specHash: "", agent: "command", network: "none", claims: [free], attempt: null, owner: me,
        });
      return free;
    });
    if (taken === undefined) break;
    console.log(taken);
  }
  console.log("end");
  // Its claims hold while it lives.
  process.stdin.once("data", () => process.exit(0));
});
console.log("here");
`;

function taker(stateDir: string) {
  const env = { STATE: stateDir, HOST: "here", DIST: `${ROOT}/dist/`, PATH: process.env.PATH };
  const child = spawn(process.execPath, ["--input-type=module", "-e", TAKER], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  const said = (word: string) =>
    new Promise<string[]>((resolve, reject) => {
      const look = (): void => {
        const lines = text.split("\n");
        if (lines.includes(word)) resolve(lines.filter((line) => line.startsWith("T")));
      };
      child.stdout.on("data", look);
      child.on("exit", () => reject(new Error(`ended early: ${text}`)));
      look();
    });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { child, said, go: () => child.stdin.write("go\n") };
}

test("of many processes that want the same tasks at the same moment each task goes to exactly one", async () => {
  using world = makeWorld();
  mkdirSync(world.state, { recursive: true });
  const first = openHistory(world.state, () => new Date());
  if (first.ok) first.value[Symbol.dispose]();
  const takers = Array.from({ length: 6 }, () => taker(world.state));
  await Promise.all(takers.map((one) => one.said("here")));
  for (const one of takers) one.go();
  const taken = (await Promise.all(takers.map((one) => one.said("end")))).flat();
  expect(taken.toSorted()).toEqual(
    Array.from({ length: 12 }, (_, index) => `T${index}`).toSorted(),
  );
  const gone = takers.map((one) => new Promise((resolve) => one.child.on("close", resolve)));
  for (const one of takers) one.child.kill("SIGKILL");
  await Promise.all(gone);
  // Now that nobody lives who could do them, all are free again.
  const next = taker(world.state);
  await next.said("here");
  next.go();
  expect(await next.said("end")).toHaveLength(12);
  next.child.kill("SIGKILL");
});

test("the runs that are running are found without looking at the others", async () => {
  using world = makeWorld();
  await world.run(ASSIGNED_AGENT);
  const opened = openHistory(world.state, () => new Date());
  if (!opened.ok) throw new Error(opened.error.message);
  using history = opened.value;
  expect(history.runsInState(["running"])).toEqual([]);
  const [run] = history.runs() as readonly [RunRecord];
  const again = { ...history.events(run.id)[0]!.event, owner: { ...run.owner, host: hostname() } };
  history.append("261129-000000-aaaaa", again);
  expect(history.runsInState(["running"], run.repositoryId).map((one) => one.id)).toEqual([
    "261129-000000-aaaaa",
  ]);
  expect(history.runsInState(["running"], "elsewhere")).toEqual([]);
  expect(() =>
    history.exclusively(() => {
      history.append("261129-000000-aaaaa", { type: "run-ready", branch: "b", head: "h" });
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(history.runsInState(["running"])).toHaveLength(1);
});

describe("the limit of containers on a host", () => {
  const slotOf = (world: World, owner: object): void => {
    mkdirSync(join(world.state, "slots"), { recursive: true, mode: 0o700 });
    const holder = { ...owner, run: "261129-000000-aaaaa", repository: "shop" };
    writeFileSync(join(world.state, "slots", "1"), JSON.stringify(holder));
  };
  const startOf = (pid: number): string =>
    execFileSync("sh", ["-c", `sed 's/.*) //' /proc/${pid}/stat | cut -d' ' -f20`], {
      encoding: "utf8",
    }).trim();
  const boot = execFileSync("cat", ["/proc/sys/kernel/random/boot_id"], { encoding: "utf8" });
  const me = () => ({
    pid: process.pid,
    startTime: startOf(process.pid),
    bootId: boot.trim(),
    host: hostname(),
  });

  test("keeps runs of one invocation from working at once, and says once who has the slot", async () => {
    using world = makeWorld();
    planOf(world, 3);
    const meeting = meetingIn(world);
    const agent = [ASSIGNED, meeting.enter, DO_IT, meeting.leave].join("\n");
    const ended = await world.run(agent, ["--parallel", "3", "--max-containers", "1"]);
    expect(ending(ended)).toBe("exit 0");
    expect(meeting.most()).toBe(1);
    expect(await tasksAndStates(world)).toEqual(["T1 ready", "T2 ready", "T3 ready"]);
    const said = ended.stderr.match(/The one container that this host takes at once/g) ?? [];
    expect(said.length).toBeGreaterThan(0);
    expect(said.length).toBeLessThanOrEqual(3);
    expect(ended.stderr).toMatch(/held by run \S+ of shop \(process \d+\); waiting for one/);
  });

  test("a slot of a dead process is free", async () => {
    using world = makeWorld();
    slotOf(world, { ...me(), startTime: "1" });
    const ended = await world.run(ASSIGNED_AGENT, ["--max-containers", "1"]);
    expect(ending(ended)).toBe("exit 0");
    expect(ended.stderr).not.toContain("waiting for one");
  });

  test("a slot of a living process is waited for, and Ctrl-C ends the wait: no container was begun", async () => {
    using world = makeWorld();
    slotOf(world, me());
    let pid = 0;
    let sent = false;
    const ended = await world.run(ASSIGNED_AGENT, ["--max-containers", "1"], {
      onStart: (id) => (pid = id),
      onStderr: (text) => {
        if (sent || !text.includes("held by run 261129-000000-aaaaa of shop")) return;
        sent = true;
        process.kill(pid, "SIGINT");
      },
    });
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain("interrupted while it waited for a free container");
    expect(agentRuns(world)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });

  test("in a repository's own file it needs trust, whatever it says", async () => {
    using world = makeWorld();
    world.write("guardloop.toml", "[container]\nmax_on_host = 50\n");
    world.commit("More containers");
    const ended = await world.run(ASSIGNED_AGENT);
    expect(ended.stderr).toMatch(/container\.max_on_host = 50 is not used.*--max-containers 50/);
  });
});
