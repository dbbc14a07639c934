import { describe, expect, test } from "vitest";
import { runnableTasks } from "../../src/tasks/plan.ts";
import { fixture, ids, planOf, said, task } from "./plan-rig.ts";

describe("shape A: second-rank headings with plain labels", () => {
  const plan = planOf(fixture("shape-a"));

  test("only headings with an id and a Status line are tasks, in the order of the plan", () => {
    expect(ids(plan)).toEqual(["T1", "T2A", "T2B"]);
    expect(said(plan)).toEqual([]);
  });

  test("a task has its title, status and the lines of both", () => {
    expect(task(plan, "T1")).toEqual({
      id: "T1",
      title: "Add the tax rule",
      status: "done",
      statusText: "done",
      dependencies: [],
      acceptance: ["Totals include tax and the unit tests pass."],
      position: { file: "docs/TASKS.md", line: 17 },
      statusPosition: { file: "docs/TASKS.md", line: 19 },
      notRunnable: "is done",
    });
  });

  test("labels right below a bullet still begin something new", () => {
    expect(task(plan, "T2A").dependencies).toEqual(["T1"]);
    expect(task(plan, "T2A").notRunnable).toBeNull();
  });

  test("the completion signal is read from bullets, wrapped bullets and a plain paragraph", () => {
    expect(task(plan, "T2A").acceptance).toEqual([
      "The cart shows a tax line, also when it is zero.",
      "A screenshot test passes.",
    ]);
    expect(task(plan, "T2B").acceptance).toEqual(["The export has a tax column."]);
  });

  test("a task waits for what is not done", () => {
    expect(task(plan, "T2B").notRunnable).toBe("waits for T2A (ready)");
    expect(runnableTasks(plan).map((one) => one.id)).toEqual(["T2A"]);
  });
});

describe("shape B: third-rank headings below phases", () => {
  const plan = planOf(fixture("shape-b"));

  test("phases are no tasks, and statuses are read with their synonyms", () => {
    expect(plan.tasks.map((one) => [one.id, one.status])).toEqual([
      ["TASK-0001", "done"],
      ["TASK-0002", "active"],
      ["TASK-0003", "ready"],
      ["TASK-0004", "ready"],
    ]);
    expect(said(plan)).toEqual([]);
  });

  test("bold labels and acceptance criteria are read", () => {
    expect(task(plan, "TASK-0002").acceptance).toEqual([
      "Every shape is read.",
      "Positions are kept.",
    ]);
    expect(task(plan, "TASK-0004").notRunnable).toBe(
      "waits for TASK-0002 (active), TASK-0003 (ready)",
    );
  });
});

describe("shape C: list fields", () => {
  const plan = planOf(fixture("shape-c"));

  test("the status in code is read, and milestones are no tasks", () => {
    expect(plan.tasks.map((one) => [one.id, one.title, one.status])).toEqual([
      ["M0-T1", "Set up the build", "done"],
      ["M0-T2", "Add the linter", "ready"],
      ["M0-T3", "Add the formatter", "planned"],
      ["M0-T4", "Add the docs", "active"],
      ["M0-T5", "Publish", "blocked"],
    ]);
    expect(said(plan)).toEqual([]);
  });

  test("nested bullets below Acceptance are its entries; a nested Status is a remark", () => {
    expect(task(plan, "M0-T2").acceptance).toEqual([
      "The linter runs in CI.",
      "No file is excluded.",
    ]);
    expect(task(plan, "M0-T2").statusText).toBe("NEXT");
    expect(task(plan, "M0-T2").dependencies).toEqual(["M0-T1"]);
  });
});

describe("shape D: bracketed ids with sub-headings", () => {
  const plan = planOf(fixture("shape-d"));

  test("sub-headings belong to the task and hold its acceptance criteria", () => {
    expect(task(plan, "TASK-12")).toMatchObject({
      title: "Validate branch names",
      status: "ready",
      dependencies: ["TASK-9"],
      acceptance: ['rejects ".."', "accepts dots"],
      notRunnable: null,
    });
    expect(ids(plan)).toEqual(["TASK-12", "TASK-9"]);
    expect(said(plan)).toEqual([]);
  });

  test("a Status below a sub-heading counts when the task has no other", () => {
    const below = planOf("# P\n\n### [T-1] A\n\n#### State\n\n- **Status:** done\n");
    expect(task(below, "T-1").status).toBe("done");
    const both = planOf("### [T-1] A\n\nStatus: ready\n\n#### Example\n\nStatus: done\n");
    expect(task(both, "T-1").status).toBe("ready");
  });
});

describe("headings", () => {
  test.each([
    ["## T1 — Title", "T1", "Title"],
    ["## T1 – Title", "T1", "Title"],
    ["## T1 - Title", "T1", "Title"],
    ["## T1 -- Title", "T1", "Title"],
    ["## T1: Title", "T1", "Title"],
    ["## T1：Title", "T1", "Title"],
    ["## T1—Title", "T1", "Title"],
    ["### RR-01 · Title", "RR-01", "Title"],
    ["### P6.5.3: Title", "P6.5.3", "Title"],
    ["### T2A — Title: with — more", "T2A", "Title: with — more"],
    ["### [TASK-12] Title", "TASK-12", "Title"],
    ["### [TASK-12]: Title", "TASK-12", "Title"],
    ["### `T1` — Title", "T1", "Title"],
    ["### **T1** — *Title*", "T1", "Title"],
    ["### [T1](tasks/t1.md) — Title", "T1", "Title"],
    ["### ✅ T1 — Title", "T1", "Title"],
    ["### T1 — Title 🚀", "T1", "Title 🚀"],
    ["### T1 ✅", "T1", ""],
    ["## T1", "T1", ""],
    ["T1 — Title\n----------", "T1", "Title"],
    ["## T1 — Title ##", "T1", "Title"],
  ])("%j is the task %s", (heading, id, title) => {
    const plan = planOf(`# Plan\n\n${heading}\n\nStatus: ready\n`);
    expect(plan.tasks.map((one) => [one.id, one.title])).toEqual([[id, title]]);
  });

  test.each([
    "## 5. Task Breakdown",
    "## Summary",
    "## Notes: later",
    "## Phase 0: Groundwork",
    "## T1–T3",
    "## 3 ways to do it",
  ])("%j with a Status line is no task by that name", (heading) => {
    const plan = planOf(`# Plan\n\n${heading}\n\nStatus: done\n\n## T9 — Real\n\nStatus: ready\n`);
    expect(plan.tasks.filter((one) => one.notRunnable === null).map((one) => one.id)).toEqual([
      "T9",
    ]);
  });

  test("a section that looks ready but has no id is pointed out with its line", () => {
    const plan = planOf("# Plan\n\n## Tax rule\n\nStatus: ready\n");
    expect(plan.tasks).toEqual([]);
    expect(said(plan)).toEqual([
      "docs/TASKS.md:3 This section has the status ready but its heading has no task id, so it is not read as a task; write it as `## T1 — Title`.",
    ]);
  });

  test("a milestone with a status of its own and the tasks nested in it are all tasks", () => {
    const plan = planOf("## M0 — A\n\nStatus: done\n\n### M0-T1 — B\n\nStatus: ready\n");
    expect(plan.tasks.map((one) => [one.id, one.status])).toEqual([
      ["M0", "done"],
      ["M0-T1", "ready"],
    ]);
  });

  test("a milestone does not take its status from a task nested in it", () => {
    expect(ids(planOf("## M0 — A\n\n### M0-T1 — B\n\nStatus: ready\n"))).toEqual(["M0-T1"]);
  });

  test("a file may hold its tasks at the first rank", () => {
    expect(ids(planOf("# T1 — A\n\nStatus: done\n\n# T2 — B\n\nStatus: ready\n"))).toEqual([
      "T1",
      "T2",
    ]);
  });
});

describe("fields", () => {
  test("a row of labelled values and a two-column table are fields too", () => {
    const row = planOf("## T1 — A\n\nPriority: P1 · Status: ready · Estimate: M\n");
    expect(task(row, "T1").status).toBe("ready");
    const table = planOf(
      "## T1 — A\n\n| Field | Value |\n| --- | --- |\n| **Status** | `done` |\n| Depends on | T2 |\n",
    );
    expect(task(table, "T1")).toMatchObject({ status: "done", dependencies: ["T2"] });
    expect(task(table, "T1").statusPosition.line).toBe(5);
  });

  test("an acceptance table with a Status column is not the status", () => {
    const plan = planOf(
      "## T1 — A\n\nStatus: ready\n\n| Criterion | Task | Status |\n| --- | --- | --- |\n| AC-1 | T1 | done |\n",
    );
    expect(task(plan, "T1")).toMatchObject({ status: "ready", notRunnable: null });
  });

  test("a task that says two different statuses is not run, and both lines are named", () => {
    const plan = planOf("## T1 — A\n\nStatus: ready\n\nText.\n\nStatus: done\n");
    expect(task(plan, "T1").notRunnable).toBe("has two Status lines that differ (lines 3 and 7)");
    expect(said(plan)).toEqual([
      "docs/TASKS.md:3 Task T1 has two Status lines that differ (lines 3 and 7), so it is not run; keep one.",
    ]);
  });

  test("two Status lines that mean the same are one", () => {
    expect(task(planOf("## T1\n\nStatus: ready\n\n- Status: todo\n"), "T1").notRunnable).toBeNull();
  });
});
