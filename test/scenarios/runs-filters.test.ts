import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, afterAll, describe, expect, test } from "vitest";
import { parseMoment } from "../../src/cli/moment.ts";
import type { RunEvent } from "../../src/core/events.ts";
import { openHistory } from "../../src/history/sqlite.ts";
import { refuse, succeed } from "../rig/lifecycle.ts";
import { openTerminal } from "../rig/terminal.ts";
import { type World, makeWorld } from "../rig/world.ts";

const world = makeWorld();

interface Entry {
  readonly hoursAgo: number;
  readonly repository: "here" | "elsewhere";
  readonly task?: string;
  readonly end: readonly RunEvent[];
}

const failed: RunEvent = {
  type: "run-failed",
  stage: "agent",
  code: "agent-killed",
  message: "Killed.",
  cure: "None.",
  details: [],
};
const ready = (name: string): RunEvent => ({
  type: "run-ready",
  branch: `agent/${name}`,
  head: "1".repeat(40),
});
const interrupted: RunEvent = { type: "run-interrupted", stage: "agent", message: "Stopped." };

const ENTRIES: Readonly<Record<string, Entry>> = {
  old: { hoursAgo: 200, repository: "here", task: "T1", end: [ready("old")] },
  failed: { hoursAgo: 50, repository: "here", task: "T2", end: [failed] },
  stopped: { hoursAgo: 5, repository: "here", end: [interrupted] },
  fresh: { hoursAgo: 1, repository: "here", task: "T1", end: [ready("fresh")] },
  other: { hoursAgo: 2, repository: "elsewhere", task: "T1", end: [ready("other")] },
};

beforeAll(async () => {
  await succeed(world, ["runs"]);
  await world.run("true");
  const { runs } = JSON.parse((await succeed(world, ["runs", "--json"])).stdout) as {
    runs: { id: string }[];
  };
  const { repositoryId } = recordOf(runs[0]?.id ?? "");
  for (const [name, entry] of Object.entries(ENTRIES)) write(name, entry, repositoryId);
});

afterAll(() => world[Symbol.dispose]());

function recordOf(id: string) {
  const opened = openHistory(world.state, () => new Date());
  if (!opened.ok) throw new Error(opened.error.message);
  using history = opened.value;
  const run = history.run(id);
  if (run === undefined) throw new Error("no such run");
  return run;
}

function write(name: string, entry: Entry, repositoryId: string): void {
  const opened = openHistory(world.state, () => new Date(Date.now() - entry.hoursAgo * 3_600_000));
  if (!opened.ok) throw new Error(opened.error.message);
  using history = opened.value;
  const isHere = entry.repository === "here";
  history.append(name, {
    type: "run-created",
    repositoryId: isHere ? repositoryId : "f".repeat(12),
    topLevel: isHere ? world.repo : join(world.root, "elsewhere"),
    branch: isHere ? "main" : "trunk",
    base: "0".repeat(40),
    parentRun: null,
    specHash: "",
    agent: "command",
    network: "none",
    owner: { pid: 1, startTime: "1", bootId: "1", host: "h" },
  });
  if (entry.task !== undefined) history.append(name, { type: "task-selected", task: entry.task });
  for (const event of entry.end) history.append(name, event);
}

/** Names of the entries that are listed, sorted; the real run is left out. */
async function listed(...flags: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await succeed(world, ["runs", "--json", ...flags]);
  const { runs } = JSON.parse(stdout) as { runs: { id: string }[] };
  return runs
    .map(({ id }) => id)
    .filter((id) => Object.hasOwn(ENTRIES, id))
    .toSorted();
}

describe("runs", () => {
  test.each<readonly [string, readonly string[]]>([
    ["", ["failed", "fresh", "old", "stopped"]],
    ["--all", ["failed", "fresh", "old", "other", "stopped"]],
    ["--state failed", ["failed"]],
    ["--state failed --state interrupted", ["failed", "stopped"]],
    ["--task T1", ["fresh", "old"]],
    ["--branch agent/fresh", ["fresh"]],
    ["--branch main", ["failed", "fresh", "old", "stopped"]],
    ["--all --branch trunk", ["other"]],
    ["--since 3h", ["fresh"]],
    ["--since 3d", ["failed", "fresh", "stopped"]],
    ["--until 3d", ["old"]],
    ["--since 3d --until 2h --state failed", ["failed"]],
    ["--since 2001-01-01 --until 2001-01-02", []],
    ["--since 2001-01-01", ["failed", "fresh", "old", "stopped"]],
  ])("%s", async (flags, expected) => {
    expect(await listed(...flags.split(" ").filter((flag) => flag !== ""))).toEqual(expected);
  });

  test("--limit takes the newest of those that match", async () => {
    const { stdout } = await succeed(world, ["runs", "--json", "--limit", "1", "--task", "T1"]);
    const { runs } = JSON.parse(stdout) as { runs: unknown[] };
    // The history is in the order in which it was written.
    expect(runs).toEqual([
      expect.objectContaining({ id: "fresh", repository: world.repo, state: "ready" }),
    ]);
  });

  test("--all says where each is", async () => {
    const { stdout } = await succeed(world, ["runs", "--all"]);
    expect(stdout).toMatch(
      new RegExp(`^other .*${join(world.root, "elsewhere")} +agent/other$`, "m"),
    );
    expect((await succeed(world, ["runs"])).stdout).not.toContain("REPOSITORY");
  });

  test.each([
    ["--state", "broken", "rolled-back"],
    ["--since", "yesterday", "2026-11-29T18:00"],
    ["--until", "2026-02-30", "3d"],
    ["--limit", "0", "--limit 10"],
  ])("%s %s is refused, with what would do", async (flag, value, hint) => {
    const error = await refuse(world, ["runs", flag, value], { status: 2, code: "usage" });
    expect(error.cure).toContain(hint);
  });

  test("that are none because of the filters do not look like none at all", async () => {
    const { stdout } = await succeed(world, ["runs", "--task", "T77"]);
    expect(stdout).toBe("No run is like that; see guardloop runs.\n");
  });
});

describe("a moment", () => {
  const now = new Date(2026, 10, 29, 12, 0, 0);
  const at = (text: string, edge: "start" | "end" = "start") => parseMoment(text, now, edge);

  test("is so long ago, or a day or time of the local clock", () => {
    expect(at("90min")).toEqual(new Date(2026, 10, 29, 10, 30));
    expect(at("1w")).toEqual(new Date(2026, 10, 22, 12, 0));
    expect(at("2026-11-28")).toEqual(new Date(2026, 10, 28));
    expect(at("2026-11-28", "end")).toEqual(new Date(2026, 10, 28, 23, 59, 59, 999));
    expect(at("2026-11-28T18:30")).toEqual(new Date(2026, 10, 28, 18, 30));
    expect(at("2026-11-28T18:30:00Z")).toEqual(new Date("2026-11-28T18:30:00Z"));
  });

  test.each(["", "2", "h", "-2h", "2 years", "2026-13-01", "2026-02-30", "20261128", "1e3h"])(
    "is not %j",
    (text) => expect(at(text)).toBeUndefined(),
  );
});

describe("logs --raw", () => {
  const BYTES = Buffer.from("a\u001B[31mred\u001B[0m\r\nno line feed \u00ff\u0000", "latin1");

  async function logged(there: World): Promise<void> {
    writeFileSync(join(there.root, "bytes"), BYTES);
    await there.run(`cat ${join(there.root, "bytes")}`);
  }

  test("gives the bytes as they are into a pipe, and makes them visible on a terminal", async () => {
    using there = makeWorld();
    await logged(there);
    const piped = await there.guardloop(["logs", "@last", "--raw"]);
    expect(piped.stdout).toContain("a\u001B[31mred\u001B[0m\r\nno line feed \uFFFD\u0000");
    const seen = await there.guardloop(["logs", "@last"]);
    expect(seen.stdout).toContain("a<U+001B>[31mred");
    const { screen, code } = await openTerminal(there, ["logs", "@last", "--raw"]).ended;
    expect(code).toBe(0);
    expect(screen).toContain("a<U+001B>[31mred<U+001B>[0m");
  });
});
