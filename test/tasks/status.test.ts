import { describe, expect, test } from "vitest";
import { parseTaskPlan } from "../../src/tasks/plan.ts";
import { normaliseStatus } from "../../src/tasks/status.ts";
import { planOf, said, task } from "./plan-rig.ts";

const KNOWN = {
  ready: [
    "ready",
    "Ready-for-dev",
    "ready-for-agent",
    "NEXT",
    "todo",
    "to do",
    "To-Do",
    "open",
    "pending",
  ],
  planned: ["planned", "backlog", "draft", "proposed"],
  active: ["in progress", "in-progress", "IN_PROGRESS", "doing", "claimed", "assigned", "hooked"],
  review: ["review", "verify", "in review"],
  done: [
    "done",
    "completed",
    "complete",
    "closed",
    "resolved",
    "shipped",
    "✅",
    "✅ Done",
    "Done ✅",
    "done.",
  ],
  blocked: ["blocked", "waiting", "ready-for-human", "needs-info"],
  skip: ["deferred", "cancelled", "wontfix", "archived", "parked"],
  unknown: [
    "",
    "Ready for review",
    "ready soon",
    "not ready",
    "ready | planned | done",
    "ready/planned",
    "done except tests",
    "ready (after T3)",
    "planned — maybe",
    "done (except tests)",
    "ready\u200B",
    "\u001B[32mready",
    "constructor",
    "🚀",
    "❌",
  ],
};

describe("words for a status", () => {
  test.each(
    Object.entries(KNOWN).flatMap(([status, words]) => words.map((word) => [word, status])),
  )("%j means %s", (word, status) => {
    expect(normaliseStatus(word)).toBe(status);
  });

  test.each([
    ["Done (2026-01-02)", "done"],
    ["done — #12", "done"],
    ["done (PR #12)", "done"],
    ["done in abc1234", "unknown"],
    ["done (in abc1234)", "done"],
    ["blocked (legal has to say yes)", "blocked"],
    ["In progress — anna", "active"],
    ["deferred - next year", "skip"],
  ])("%j with a note means %s", (text, status) => {
    expect(normaliseStatus(text)).toBe(status);
  });
});

describe("how a Status line may look", () => {
  test.each([
    "Status: ready",
    "status: ready",
    "STATUS: READY",
    "Status : ready",
    "Status:ready",
    "**Status:** ready",
    "**Status**: ready",
    "__Status:__ `ready`",
    "_Status: ready_",
    "- Status: ready",
    "* **Status:** ready",
    "1. Status: ready",
    "Status: ready 🚀",
    "Status: **ready**",
    "Status: ready <!-- ready, planned or done -->",
    "Status: ~~planned~~ ready",
    "Status: ready<br>Owner: x",
    "Owner: x\nStatus: ready",
    "Owner: x  \nStatus: ready  \nEstimate: M",
    "- Owner: x\n- Status: ready",
    "Status:\tready",
    "Status:\u00A0ready",
    "Status: ready\nCompute the tax per line.",
  ])("%j is read", (line) => {
    expect(task(planOf(`## T1 — A\n\n${line}\n`), "T1")).toMatchObject({
      status: "ready",
      notRunnable: null,
    });
  });

  test("an unknown status is not run; the message has the line and the words to use", () => {
    const plan = planOf("## T1 — A\n\nStatus: Ready for review\n");
    expect(task(plan, "T1")).toMatchObject({
      status: "unknown",
      statusText: "Ready for review",
      notRunnable: "has an unknown status (Ready for review)",
    });
    expect(said(plan)).toEqual([
      'docs/TASKS.md:3 Task T1 has the unknown status "Ready for review", so it is not run; use one of ready, planned, in progress, review, done, blocked, deferred.',
    ]);
  });

  test("a status that goes on in the next line is taken whole", () => {
    const plan = planOf("## T1 — A\n\n**Status:** ready\nfor review by a person\n");
    expect(task(plan, "T1").statusText).toBe("ready for review by a person");
    expect(task(plan, "T1").notRunnable).not.toBeNull();
  });

  test("an empty status is said to be empty", () => {
    expect(said(planOf("## T1 — A\n\nStatus:\n"))[0]).toContain("has an empty status");
  });
});

test("whether planned tasks run is a setting", () => {
  const files = [
    {
      path: "docs/TASKS.md",
      text: "## T1 — A\n\nStatus: planned\n\n## T2 — B\n\nStatus: pending\n",
    },
  ];
  expect(parseTaskPlan(files, { runnable: ["ready"] }).tasks.map((one) => one.notRunnable)).toEqual(
    ["is planned; the setting plan.runnable does not list that", null],
  );
  expect(
    parseTaskPlan(files, { runnable: ["planned"] }).tasks.map((one) => one.notRunnable),
  ).toEqual([null, "is ready; the setting plan.runnable does not list that"]);
});
