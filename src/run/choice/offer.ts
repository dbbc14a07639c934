import { type Failure, failure } from "../../core/failures.ts";
import { fail } from "../../core/failures.ts";
import type { OfferedTask } from "../../core/run-spec.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { type Result, ok } from "../../core/result.ts";
import { findTask, showPosition } from "../../tasks/plan.ts";
import type { JudgedTask, TaskPlan } from "../../tasks/task.ts";

export interface Standing {
  /** Ids that were named with --task; empty when any task will do. */
  readonly wanted: readonly string[];
  /** Why a task that the plan says can be run is not offered all the same, by id. */
  readonly excluded: ReadonlyMap<string, string>;
  /** Tasks that a running run has for itself. */
  readonly claimed: ReadonlyMap<string, RunRecord>;
}

const ANY_TASK: Standing = { wanted: [], excluded: new Map(), claimed: new Map() };

/** The tasks that are offered, in the plan's order; refuses when there is none, with the table of why. */
export function offerTasks(
  plan: TaskPlan,
  standing: Standing = ANY_TASK,
): Result<readonly OfferedTask[], Failure> {
  const { wanted, excluded, claimed } = standing;
  const open = plan.tasks
    .filter((task) => wanted.length === 0 || wanted.includes(task.id))
    .filter((task) => task.notRunnable === null && !excluded.has(task.id));
  const offered = open.filter((task) => !claimed.has(task.id));
  if (offered.length > 0) return ok(offered.map(toOffer));
  if (open.length > 0) return { ok: false, error: allClaimed(open, claimed) };
  return { ok: false, error: nothingToRun(plan, standing) };
}

/** What is said where the only thing that keeps tasks from being run is that they are being done. */
export function allClaimed(
  open: readonly { readonly id: string }[],
  claimed: ReadonlyMap<string, RunRecord>,
): Failure {
  const runs = [...new Set(open.flatMap(({ id }) => claimed.get(id) ?? []))];
  const [first] = runs;
  const what =
    open.length === 1 ? `Task ${open[0]?.id ?? ""} is` : "Every task that could be run is";
  const more = runs.length > 1 ? ` and ${runs.length - 1} more` : "";
  const message = `${what} being done by run ${first?.id ?? "?"} (process ${first?.owner.pid ?? "?"})${more}.`;
  const details = open.map(({ id }) => `${id}: run ${claimed.get(id)?.id ?? "?"}`);
  return failure("tasks-claimed", message, { details: open.length === 1 ? [] : details });
}

function nothingToRun(plan: TaskPlan, { wanted, excluded, claimed }: Standing): Failure {
  const asked = plan.tasks.filter((task) => wanted.length === 0 || wanted.includes(task.id));
  const reasons = asked.map((task) => {
    const run = claimed.get(task.id);
    const doing = run === undefined ? undefined : `is being done by run ${run.id}`;
    const reason = task.notRunnable ?? excluded.get(task.id) ?? doing ?? "runnable";
    return `${showPosition(task.position)} ${task.id}: ${reason}`;
  });
  const diagnostics = plan.diagnostics.map((one) => `${showPosition(one.position)} ${one.message}`);
  const none =
    plan.tasks.length === 0
      ? "The task plan has no task."
      : "The task plan has no task that can be run now.";
  const message = wanted.length === 0 ? none : "None of the tasks that were named can be run now.";
  const details = wanted.length === 0 ? [...reasons, ...diagnostics] : reasons;
  const keptOut = asked.some((task) => task.notRunnable === null && excluded.has(task.id));
  return failure("no-runnable-task", message, {
    details,
    ...(keptOut
      ? {
          cure: "Do what the reasons say (promote or discard a run, or pass --task), or set another task to `ready`.",
        }
      : {}),
  });
}

function toOffer(task: JudgedTask): OfferedTask {
  const { id, title, acceptance } = task;
  return { id, title, acceptance, file: task.position.file, line: task.position.line };
}

/**
 * Refuses names that can come to nothing. In a stack a task may wait for another one that is named as well, since
 * that one is done when its turn comes.
 */
export function checkWanted(
  plan: TaskPlan,
  wanted: readonly string[],
  kind: "stacked" | "independent" | "attempts",
): Result<void, Failure> {
  for (const id of wanted) {
    const task = findTask(plan, id);
    if (task === undefined) return unknownTask(plan, id);
    if (task.notRunnable === null) continue;
    const waits = task.dependencies.some((one) => wanted.includes(one) && one !== id);
    if (kind === "stacked" && waits && task.notRunnable.startsWith("waits for ")) continue;
    return fail(
      "no-runnable-task",
      `${showPosition(task.position)}: task ${id} cannot be run: it ${task.notRunnable}.`,
    );
  }
  return ok(undefined);
}

function unknownTask(plan: TaskPlan, id: string): Result<never, Failure> {
  const alike = plan.tasks.find((task) => task.id.toLowerCase() === id.toLowerCase());
  const files = [...new Set(plan.tasks.map((task) => task.position.file))];
  const guess =
    alike === undefined ? "" : ` ${showPosition(alike.position)} has ${alike.id}: case counts.`;
  const where = files.length === 0 ? "" : ` (${files.slice(0, 3).join(", ")})`;
  return fail("unknown-task", `The task plan${where} has no task ${id}.${guess}`);
}
