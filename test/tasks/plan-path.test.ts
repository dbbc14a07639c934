import { expect, test } from "vitest";
import { findTask, planPathMatches, planPlaces, showPosition } from "../../src/tasks/plan.ts";
import { planOf } from "./plan-rig.ts";

const USUAL = ["docs/TASKS.md", "docs/tasks/*.md"];

test.each([
  ["docs/TASKS.md", true],
  ["docs/tasks/us-008.md", true],
  ["docs/tasks/add login.md", true],
  ["docs/tasks/done/us-001.md", false],
  ["docs/tasks/.draft.md", false],
  ["docs/tasks/us-008.txt", false],
  ["docs/Tasks.md", false],
  ["sub/docs/TASKS.md", false],
  ["TASKS.md", false],
])("%s belongs to the usual plan: %s", (path, belongs) => {
  expect(planPathMatches(USUAL)(path)).toBe(belongs);
});

test("globs may name folders, start with ./ and be none at all", () => {
  expect(planPathMatches(["plans/**/*.md"])("plans/a/b/c.md")).toBe(true);
  expect(planPathMatches(["./TASKS.md"])("TASKS.md")).toBe(true);
  expect(planPathMatches([])("docs/TASKS.md")).toBe(false);
});

test.each<[readonly string[], readonly string[]]>([
  [USUAL, ["docs/TASKS.md", "docs/tasks"]],
  [["./plans/**/*.md", "./plans/*.txt"], ["plans"]],
  [["docs/TASKS.md", "*.md"], []],
  [["{docs,plans}/TASKS.md"], []],
  [["!docs/TASKS.md"], []],
  [["../docs/*.md"], []],
  [[":(top)docs/*.md"], []],
  [["docs/a task.md", "docs/+(a|b).md"], ["docs"]],
])("nothing that %j match lies outside of %j", (globs, places) => {
  expect(planPlaces(globs)).toEqual(places);
});

test("a task is found by exactly its id", () => {
  const plan = planOf("## T1 — A\n\nStatus: ready\n");
  expect(findTask(plan, "T1")?.title).toBe("A");
  expect(findTask(plan, "t1")).toBeUndefined();
  expect(findTask(plan, "T2")).toBeUndefined();
});

test("a position is shown as file and line", () => {
  expect(showPosition({ file: "docs/TASKS.md", line: 12 })).toBe("docs/TASKS.md:12");
});
