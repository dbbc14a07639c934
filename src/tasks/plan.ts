import picomatch from "picomatch";
import type { DraftTask, FormatResult } from "./draft-task.ts";
import { readHeadingTasks } from "./formats/heading-task.ts";
import { readOneFileTask } from "./formats/one-file-task.ts";
import { type JudgeOptions, judgePlan } from "./judge.ts";
import { notForExecution } from "./not-for-execution.ts";
import { type PlanDocument, readDocument } from "./plan-document.ts";
import { withinLimits } from "./plan-limits.ts";
import type { JudgedTask, PlanFile, Position, TaskPlan } from "./task.ts";

/**
 * Reads a task plan out of the text of its files, in the order given. Pure; never throws, whatever the text.
 *
 * The text may come from a branch an agent wrote: ids, titles and every other text are data, and hold control
 * characters when the plan does. Escape them when printing. A file that is too large or too deep is left out with
 * a diagnostic.
 */
export function parseTaskPlan(files: readonly PlanFile[], options: JudgeOptions): TaskPlan {
  const limited = withinLimits(files);
  const results = limited.files.map((file) => readFile(readDocument(file)));
  return judgePlan(
    {
      drafts: results.flatMap((result) => result.drafts),
      diagnostics: [...limited.diagnostics, ...results.flatMap((result) => result.diagnostics)],
    },
    options,
  );
}

function readFile(document: PlanDocument): FormatResult {
  if (document.problem !== null) {
    const { message, line } = document.problem;
    return { drafts: [], diagnostics: [{ message, position: { file: document.path, line } }] };
  }
  const headings = readHeadingTasks(document);
  const present = headings.drafts.length > 0 ? "present" : "absent";
  const oneFile = readOneFileTask(document, present);
  if (oneFile !== null) return oneFile;
  const firstTaskLine = headings.drafts[0]?.position.line ?? 0;
  const line = notForExecution(document, firstTaskLine);
  if (line === null) return headings;
  const refusal = `is in a file marked as not to be executed (line ${line})`;
  const drafts = headings.drafts.map((draft) => refuse(draft, refusal));
  return { drafts, diagnostics: headings.diagnostics };
}

function refuse(draft: DraftTask, refusal: string): DraftTask {
  return { ...draft, refusal };
}

/** The task with exactly this id, as it is written in the plan. */
export function findTask(plan: TaskPlan, id: string): JudgedTask | undefined {
  return plan.tasks.find((task) => task.id === id);
}

export function isRunnable(task: JudgedTask): boolean {
  return task.notRunnable === null;
}

/** In the order of the plan. */
export function runnableTasks(plan: TaskPlan): readonly JudgedTask[] {
  return plan.tasks.filter((task) => isRunnable(task));
}

/**
 * Tells which paths belong to the plan. Paths are relative to the repository's root with forward slashes, as
 * `git ls-tree` gives them; globs are the setting `plan.globs`. Case counts, and a leading dot must be written out.
 */
export function planPathMatches(globs: readonly string[]): (path: string) => boolean {
  if (globs.length === 0) return () => false;
  const matches = picomatch(globs.map((glob) => glob.replace(/^\.\//, "")));
  return (path) => matches(path);
}

/**
 * Files and directories outside of which none of the globs matches anything, so that a large repository need not be
 * listed whole; empty where one of them may match anywhere.
 */
export function planPlaces(globs: readonly string[]): readonly string[] {
  const places = globs.map((glob) => {
    const parts = glob.replace(/^\.\//, "").split("/");
    const end = parts.findIndex((part) => !/^\w[\w.-]*$/.test(part));
    return parts.slice(0, end === -1 ? parts.length : end).join("/");
  });
  return places.includes("") ? [] : [...new Set(places)];
}

/** `docs/TASKS.md:12`. */
export function showPosition(position: Position): string {
  return `${position.file}:${position.line}`;
}
