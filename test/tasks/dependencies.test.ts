import { describe, expect, test } from "vitest";
import { planOf, said, task } from "./plan-rig.ts";

const OTHERS =
  "## T1 — A\n\nStatus: done\n\n## T2 — B\n\nStatus: done\n\n## auth-3 — C\n\nStatus: done\n\n";

function dependent(lines: string) {
  return planOf(`# Plan\n\n${OTHERS}## T9 — Z\n\nStatus: ready\n\n${lines}\n`);
}

describe("what a task depends on", () => {
  test.each([
    ["Dependencies: None", []],
    ["Dependencies: none.", []],
    ["Dependencies: N/A", []],
    ["Dependencies: -", []],
    ["Dependencies: —", []],
    ["Dependencies: None (can start immediately)", []],
    ["Dependencies:", []],
    ["Dependencies:\n- None", []],
    ["Dependencies: docs/adr/0001-tax.md", []],
    ["Dependencies:\n- `docs/PRD.md`\n- [the PRD](../PRD.md)", []],
    ["Dependencies: T1, T2", ["T1", "T2"]],
    ["Dependencies: T1 and T2", ["T1", "T2"]],
    ["Dependencies: T1; T2", ["T1", "T2"]],
    ["Dependencies: T1 + T2", ["T1", "T2"]],
    ["Dependencies: T1,\nT2", ["T1", "T2"]],
    ["Dependencies:\n- T1, T2", ["T1", "T2"]],
    ["Dependencies:\n- T1 — the tax rule\n- T2 (merged)", ["T1", "T2"]],
    ["Dependencies:\n\n- T1\n- T1", ["T1"]],
    ["Dependencies: `T1`", ["T1"]],
    ["Dependencies: [T1](#t1)", ["T1"]],
    ["Dependencies: t1", ["T1"]],
    ["Dependencies: auth-3", ["auth-3"]],
    ["Dependencies: after T1", ["T1"]],
    ["Dependencies: Task T1", ["T1"]],
    ["Dependencies: T1 must be merged first", ["T1"]],
    ["Depends on: T1", ["T1"]],
    ["**Depends-On:** T1", ["T1"]],
    ["Blocked by: T1", ["T1"]],
    ["- **Dependencies:** T1", ["T1"]],
    ["#### Dependencies\n\n- T1\n- T2", ["T1", "T2"]],
    ["Dependencies: T1\n\nCompletion signal:\n- T2 still works.", ["T1"]],
    ["Dependencies: T1\nPriority: after T2", ["T1"]],
    ["Dependencies: T1\n\nThis is not about T2.", ["T1"]],
    ["```\nDependencies: T1\n```", []],
  ])("%j", (lines, dependencies) => {
    const plan = dependent(lines);
    expect(task(plan, "T9").dependencies).toEqual(dependencies);
    expect(task(plan, "T9").notRunnable).toBeNull();
  });

  test.each([
    ["Dependencies: T7", "T7"],
    ["Dependencies: T1–T3", "T1–T3"],
    ["Dependencies: T1 to T3", "T1 to T3"],
    ["Dependencies: ADR-0004", "ADR-0004"],
    ["Dependencies: auth-login", "auth-login"],
    ["Dependencies: T7 must be merged first", "T7"],
  ])("%j is not in the plan: not run, and said with its line", (lines, id) => {
    const plan = dependent(lines);
    expect(task(plan, "T9").notRunnable).toBe(`depends on ${id}, not in the plan`);
    expect(said(plan)).toEqual([
      `docs/TASKS.md:19 Task T9 depends on ${id}, which is not a task of this plan, so it is not run; correct the id.`,
    ]);
  });

  test("a remark that names no task does not keep it from running, but is said", () => {
    const plan = dependent("Dependencies: the cart service is deployed");
    expect(task(plan, "T9").notRunnable).toBeNull();
    expect(said(plan)).toEqual([
      'docs/TASKS.md:19 Task T9 depends on "the cart service is deployed", which names no task and is not checked.',
    ]);
  });

  test("nothing is said about a task that is done", () => {
    expect(said(planOf("## T1 — A\n\nStatus: done\nDepends on: T7, the moon\n"))).toEqual([]);
  });
});

describe("waiting", () => {
  test.each(["planned", "ready", "in progress", "review", "blocked", "deferred", "whatever"])(
    "a task waits for one that is %s",
    (status) => {
      const plan = planOf(
        `## T1 — A\n\nStatus: ${status}\n\n## T2 — B\n\nStatus: ready\nDepends on: T1\n`,
      );
      expect(task(plan, "T2").notRunnable).toBe(`waits for T1 (${task(plan, "T1").status})`);
    },
  );

  test("tasks that wait for each other are named in order, and said once", () => {
    const plan = planOf(
      "## T1 — A\n\nStatus: ready\nDepends on: T2\n\n## T2 — B\n\nStatus: planned\nDepends on: T3\n\n" +
        "## T3 — C\n\nStatus: ready\nDepends on: T1\n\n## T4 — D\n\nStatus: ready\nDepends on: T3\n",
    );
    expect(plan.tasks.map((one) => one.notRunnable)).toEqual([
      "waits for itself: T1 -> T2 -> T3 -> T1",
      "waits for itself: T1 -> T2 -> T3 -> T1",
      "waits for itself: T1 -> T2 -> T3 -> T1",
      "waits for T3 (ready)",
    ]);
    expect(said(plan)).toEqual([
      "docs/TASKS.md:1 These tasks wait for each other, so none of them can be run: T1 -> T2 -> T3 -> T1. Remove one dependency.",
    ]);
  });

  test("a cycle is found behind other things its tasks wait for", () => {
    const plan = planOf(
      "## T1 — A\n\nStatus: ready\nDepends on: T3, T2\n\n## T2 — B\n\nStatus: ready\nDepends on: T3, T1\n\n" +
        "## T3 — C\n\nStatus: ready\n",
    );
    expect(task(plan, "T1").notRunnable).toBe("waits for itself: T1 -> T2 -> T1");
    expect(task(plan, "T3").notRunnable).toBeNull();
  });

  test("a task may not wait for itself", () => {
    const plan = planOf("## T1 — A\n\nStatus: ready\nDepends on: T1\n");
    expect(task(plan, "T1").notRunnable).toBe("waits for itself: T1 -> T1");
  });

  test("a cycle that a done task breaks is none", () => {
    const plan = planOf(
      "## T1 — A\n\nStatus: done\nDepends on: T2\n\n## T2 — B\n\nStatus: ready\nDepends on: T1\n",
    );
    expect(task(plan, "T2").notRunnable).toBeNull();
    expect(said(plan)).toEqual([]);
  });

  test("a chain of thousands of tasks is followed without overflow", () => {
    const text = Array.from(
      { length: 3000 },
      (_, index) => `## T${index} — A\nStatus: ready\nDepends on: T${(index + 1) % 3000}\n\n`,
    ).join("");
    expect(task(planOf(text), "T0").notRunnable).toBe(
      "waits for itself: T0 -> T1 -> T2 -> T3 -> T4 -> T5 -> T6 -> … -> T2999 -> T0",
    );
  });
});
