import { describe, expect, test } from "vitest";
import { FAILURES, isTasksFault } from "../../src/core/failures.ts";
import type { RunRecord } from "../../src/core/run-record.ts";
import { seriesShape } from "../../src/run/choice/shape.ts";
import { givenUp, taskOf } from "../../src/run/choice/track-record.ts";
import { backoffMs } from "../../src/run/series/backoff.ts";
import { readDocument } from "../docs/documents.ts";
import { loaded } from "../config/load-rig.ts";

describe("how the runs of an invocation go together", () => {
  const shapeOf = (
    flags: Readonly<Record<string, string>>,
    { agents = 1, wanted = 0 }: { agents?: number; wanted?: number } = {},
  ) => {
    const { settings, origins } = loaded({ flags });
    const shape = seriesShape({
      run: settings.run,
      agents,
      wanted,
      originOf: (key) => origins.find((one) => one.key === key)?.origin ?? "default",
    });
    return shape.ok
      ? `${shape.value.kind} ${shape.value.width} at once, ${shape.value.most} in all`
      : shape.error.message;
  };

  test.each([
    [{}, {}, "stacked 1 at once, 1 in all"],
    [{ "run.max_tasks": "5" }, {}, "stacked 1 at once, 5 in all"],
    [{ "run.mode": "independent" }, {}, "independent 1 at once, 1 in all"],
    [{ "run.parallel": "3" }, {}, "independent 3 at once, 3 in all"],
    [{ "run.parallel": "3", "run.max_tasks": "8" }, {}, "independent 3 at once, 8 in all"],
    [{ "run.parallel": "3", "run.max_tasks": "2" }, {}, "independent 2 at once, 2 in all"],
    [{}, { wanted: 2 }, "stacked 1 at once, 2 in all"],
    [{ "run.max_tasks": "1" }, { wanted: 2 }, "stacked 1 at once, 1 in all"],
    [{ "run.parallel": "2" }, { wanted: 3 }, "independent 2 at once, 3 in all"],
    [{ "run.attempts": "3" }, {}, "attempts 1 at once, 3 in all"],
    [{ "run.attempts": "3", "run.parallel": "2" }, {}, "attempts 2 at once, 3 in all"],
    [{}, { agents: 2 }, "attempts 1 at once, 2 in all"],
    [{ "run.attempts": "4" }, { agents: 2 }, "attempts 1 at once, 4 in all"],
  ])("%j with %j: %s", (flags, also, expected) => {
    expect(shapeOf(flags, also)).toBe(expected);
  });
});

test("the wait is doubled for each failure in a row, up to its limit", () => {
  const waits = { backoffMs: 10_000, backoffMaxMs: 60_000 };
  expect([0, 1, 2, 3, 4, 200].map((failures) => backoffMs(failures, waits))).toEqual([
    0, 10_000, 20_000, 40_000, 60_000, 60_000,
  ]);
});

describe("giving a task up", () => {
  /** Newest first: `T1 missing-patches`, `T1 ready`, or the tasks that were offered, with commas. */
  const runs = (...lines: readonly string[]): readonly RunRecord[] =>
    lines.map((line, index) => {
      const [tasks = "", outcome = ""] = line.split(" ");
      const claims = tasks.split(",");
      const failure = Object.hasOwn(FAILURES, outcome) ? { code: outcome } : null;
      const state = outcome === "interrupted" ? outcome : failure === null ? outcome : "failed";
      // As much of a record as is looked at.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return { id: `run-${index}`, task: null, claims, state, failure } as unknown as RunRecord;
    });

  test.each([
    [["T1 missing-patches", "T1 missing-task-id"], ["T1"]],
    [["T1 missing-patches"], []],
    [["T1 missing-patches", "T1 ready", "T1 missing-patches"], []],
    [["T1 ready", "T1 missing-patches", "T1 missing-patches"], []],
    [["T1 missing-patches", "T1 container-failed", "T1 interrupted", "T1 missing-patches"], ["T1"]],
    [["T1 running", "T1 missing-patches", "T1 missing-patches"], ["T1"]],
    [["T1,T2 missing-patches", "T1,T2 agent-idle-limit"], ["T1"]],
    [["T1 missing-patches", "T2 missing-patches", "T2 promoted", "T1 missing-patches"], ["T1"]],
  ])("after %j: %j", (lines, expected) => {
    expect([...givenUp(runs(...lines), 2).keys()]).toEqual(expected);
    expect(givenUp(runs(...lines), 0).size).toBe(0);
  });

  test("names the newest run that failed", () => {
    const given = givenUp(runs("T1 interrupted", "T1 missing-patches", "T1 bad-patches"), 2);
    expect(given.get("T1")).toContain("2 times in a row, last in run run-1;");
  });

  test("a run counts for what it selected, else for the first it was offered", () => {
    expect(taskOf({ task: "T2", claims: ["T1", "T2"] })).toBe("T2");
    expect(taskOf({ task: null, claims: ["T1", "T2"] })).toBe("T1");
    expect(taskOf({ task: null, claims: [] })).toBeUndefined();
  });

  test("docs/failures.md names exactly the failures that say nothing about the task", () => {
    const { text } = readDocument("docs/failures.md");
    const paragraph = text.slice(text.indexOf("## What counts against a task"));
    const documented = [...paragraph.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(
      ([, code = ""]) => code,
    );
    const code = Object.entries(FAILURES)
      .filter(([name, { exit }]) => (exit === 1 || exit === 4) && !isTasksFault(name))
      .map(([name]) => name);
    expect(documented.toSorted()).toEqual(code.toSorted());
    const never = Object.entries(FAILURES).filter(([, { exit }]) => [2, 3, 130].includes(exit));
    expect(never.filter(([name]) => isTasksFault(name))).toEqual([]);
  });
});
