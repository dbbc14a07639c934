import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { refuse, show, succeed } from "../rig/lifecycle.ts";
import { openTerminal } from "../rig/terminal.ts";
import { type World, GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

/** An agent that says something, waits until it may go on, and then does its task. */
async function pausedRun(world: World, says: string) {
  const wait = join(world.root, "wait");
  writeFileSync(wait, "");
  let said = "";
  const ended = world.run(
    `echo half > half.txt; ${says}; while [ -e ${wait} ]; do sleep 0.1; done; ${GOOD_AGENT}`,
    [],
    { onStderr: (text) => (said += text) },
  );
  await until(() => said.includes("works"));
  return { ended, goOn: () => rmSync(wait) };
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await delay(20);
}

describe("watch", () => {
  test("without a run that goes on says so", async () => {
    using world = makeWorld();
    const none = await refuse(world, ["watch"], { status: 2, code: "unknown-run" });
    expect(none.message).toBe("No run of this repository is running.");
  });

  test("elsewhere than on a terminal prints a line for each change, to the end of the run", async () => {
    using world = makeWorld();
    const { ended, goOn } = await pausedRun(world, `printf 'one\\ntwo \\033[2J\\n'`);
    const watching = world.guardloop(["watch"]);
    goOn();
    const watched = await watching;
    expect(watched.code).toBe(0);
    expect((await ended).code).toBe(0);
    const seen = watched.stdout;
    expect(seen).toMatch(/^ {2}\d\d:\d\d:\d\d {2}one$/m);
    expect(seen).toMatch(/two <U\+001B>\[2J$/m);
    expect(seen).toMatch(/^ {2}import +ok/m);
    expect(seen).toMatch(/ready {2}agent\/T1-/);
    expect(seen).toContain("Look at it:  guardloop review");
    expect(seen).not.toContain("\u001B");
  });

  test.each([
    ["scripted", "1.5GiB / 4GiB", 2 ** 30],
    ["scripted-podman", "1.5GB / 4GB", 1e9],
  ] as const)(
    "with --json prints an object a line: what it does, what it uses, how it ends (%s)",
    async (engine, memory, unit) => {
      using world = makeWorld(engine);
      world.faults({ stats: { cpu: "150.00%", memory } });
      const { ended, goOn } = await pausedRun(world, "echo said");
      let seen = "";
      const watching = world.guardloop(["watch", "--json"], { onStdout: (text) => (seen += text) });
      await until(() => /"container":\{.*"files":\{"files":1/.test(seen));
      goOn();
      const lines = (await watching).stdout.trim().split("\n").map(parse);
      await ended;
      expect(lines).toContainEqual(
        expect.objectContaining({
          state: "running",
          stage: "agent",
          lastAction: expect.objectContaining({ type: "output", text: "said" }),
          container: { cpuPercent: 150, memoryBytes: 1.5 * unit, memoryLimitBytes: 4 * unit },
          files: { files: 1, looked: "all" },
          timeLeft: { wallMs: expect.any(Number), idleMs: expect.any(Number) },
        }),
      );
      expect(lines.at(-1)).toMatchObject({
        state: "ready",
        task: "T1",
        stage: null,
        failure: null,
      });
    },
  );

  test("of a run that has ended says how, at once", async () => {
    using world = makeWorld();
    await world.run("echo bad > x.txt");
    const watched = await succeed(world, ["watch", "@last"]);
    expect(watched.stdout).toContain("did not leave selected-task-id.txt");
  });

  test("of a run whose process was killed points to recover", async () => {
    using world = makeWorld();
    let pid = 0;
    let said = "";
    const ended = world.run("sleep 30", [], {
      onStart: (id) => (pid = id),
      onStderr: (text) => (said += text),
    });
    await until(() => said.includes("works"));
    process.kill(pid, "SIGKILL");
    await refuse(world, ["watch", "@last"], { code: "owner-gone" });
    const none = await refuse(world, ["watch"], { status: 2, code: "unknown-run" });
    expect(none.message).toContain("No run");
    await succeed(world, ["recover"]);
    await ended;
  });
});

describe("watch on a terminal", () => {
  test.each([
    ["q", "q"],
    ["Ctrl-C", "\u0003"],
  ])("draws in place; %s ends it and leaves the run alone", async (_, key) => {
    using world = makeWorld();
    const { ended, goOn } = await pausedRun(
      world,
      `printf 'evil \\033[2J 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字\\n'`,
    );
    const session = openTerminal(world, ["watch"], { size: { columns: 60, rows: 12 } });
    await until(() => session.written().includes("touched"));
    session.press(key);
    const { code, screen } = await session.ended;
    expect(code).toBe(0);
    expect(screen).toMatch(/^Run \S+ goes on\.\n$/);
    const frames = session.written().split("\u001B[0J");
    expect(frames.length).toBeGreaterThan(2);
    for (const frame of frames) expect(widestLine(frame)).toBeLessThan(60);
    expect(session.written()).toContain("evil <U+001B>[2J");
    expect((await show(world)).run.state).toBe("running");
    goOn();
    expect((await ended).code).toBe(0);
  });

  test("ends with the run, and leaves its final state on the screen", async () => {
    using world = makeWorld();
    const { ended, goOn } = await pausedRun(world, "echo said");
    const session = openTerminal(world, ["watch"]);
    await until(() => session.written().includes("said"));
    goOn();
    const { code, screen } = await session.ended;
    await ended;
    expect(code).toBe(0);
    const [run] = await runsOf(world);
    expect(screen).toBe(
      `${run?.id}  ready  ${run?.branch}\nLook at it:  guardloop review ${run?.id}\n`,
    );
  });
});

describe("run", () => {
  test("on a terminal shows the agent's last action underneath, and leaves only lines", async () => {
    using world = makeWorld();
    const agent = `echo first said; sleep 2; ${GOOD_AGENT}`;
    const session = openTerminal(world, ["run", "--agent", "command", "--", "sh", "-c", agent]);
    const { code, screen } = await session.ended;
    expect(code).toBe(0);
    expect(session.written()).toContain("first said");
    expect(screen).not.toContain("first said");
    expect(screen).toMatch(/^ {2}agent {5}ok/m);
    expect(screen).toMatch(/^RUN +TASK +STATE +COMMITS +FILES +FINDINGS +VALIDATION +TIME$/m);
    expect(screen).toMatch(/^\S+ +T1 +ready +1 +2 +none +- +\d/m);
  });

  test("elsewhere prints lines alone, and the same table", async () => {
    using world = makeWorld();
    const ended = await world.run(`echo said; touch x; ln -s /etc/passwd link; ${GOOD_AGENT}`, [
      "--validate",
      "ok: true",
    ]);
    expect(ended.stderr).not.toContain("said");
    expect(ended.stderr).not.toContain("\u001B");
    expect(ended.stdout).toMatch(/^\S+ +T1 +ready +1 +4 +1 block +passed +\d/m);
    const failed = await world.run("true");
    expect(failed.stdout).toMatch(/^\S+ +- +missing-task-id +- +- +- +- +\d/m);
  });
});

function parse(line: string): unknown {
  return JSON.parse(line);
}

/** In columns, with two for a character that may be wide. */
function widestLine(frame: string): number {
  // oxlint-disable-next-line no-control-regex
  const lines = frame.replaceAll(/\u001B\[\d*[A-Za-z]/g, "").split(/\r?\n/);
  const width = (line: string): number =>
    Array.from(line).reduce((sum, one) => sum + ((one.codePointAt(0) ?? 0) > 0x2fff ? 2 : 1), 0);
  return Math.max(...lines.map(width));
}
