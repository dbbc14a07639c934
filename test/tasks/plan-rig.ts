import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { findTask, parseTaskPlan } from "../../src/tasks/plan.ts";
import type { JudgedTask, TaskPlan } from "../../src/tasks/task.ts";

export const BOTH = { runnable: ["ready", "planned"] } as const;

/** A plan file that stands ready below fixtures/; `.txt` keeps the formatter away from its layout. */
export function fixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}.txt`, import.meta.url), "utf8");
}

/** Parses one text as docs/TASKS.md. */
export function planOf(text: string): TaskPlan {
  return parseTaskPlan([{ path: "docs/TASKS.md", text }], BOTH);
}

/** Parses files given as path to text. */
export function planOfFiles(files: Readonly<Record<string, string>>): TaskPlan {
  return parseTaskPlan(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    BOTH,
  );
}

export function task(plan: TaskPlan, id: string): JudgedTask {
  const found = findTask(plan, id);
  expect(found, `task ${id} among ${ids(plan).join(", ")}`).toBeDefined();
  return found!;
}

export function ids(plan: TaskPlan): readonly string[] {
  return plan.tasks.map((one) => one.id);
}

/** `file:line message`, as a command would print a diagnostic. */
export function said(plan: TaskPlan): readonly string[] {
  return plan.diagnostics.map(
    ({ position, message }) => `${position.file}:${position.line} ${message}`,
  );
}
