import { isTaskId } from "../core/ids.ts";
import { findCycles } from "./cycles.ts";
import { type Dependency, planIds, readDependencies } from "./dependencies.ts";
import type { DraftTask, FormatResult } from "./draft-task.ts";
import { diagnosticsOfDraft, duplicateDiagnostic } from "./draft-diagnostics.ts";
import { shown } from "./shown.ts";
import type { JudgedTask, PlanDiagnostic, TaskPlan } from "./task.ts";

export interface JudgeOptions {
  /** Statuses that make a task runnable. */
  readonly runnable: readonly ("ready" | "planned")[];
}

const LONGEST_CYCLE = 8;

type Linked = DraftTask & { readonly links: readonly Dependency[] };

/**
 * Compares the tasks of all files and says of each whether it can be run now, and if not, why.
 *
 * Ids that differ only in case count as the same, since branches and paths of some file systems would collide;
 * a task whose id is used twice cannot be run, and nothing that depends on it either.
 */
export function judgePlan(found: FormatResult, options: JudgeOptions): TaskPlan {
  const byKey = groupByKey(found.drafts);
  const ids = planIds(new Map([...byKey].map(([key, drafts]) => [key, drafts[0]?.id ?? key])));
  const diagnostics: PlanDiagnostic[] = [...found.diagnostics];
  const linked: Linked[] = [];
  for (const draft of found.drafts) {
    const reading = readDependencies(draft, ids);
    linked.push({ ...draft, links: reading.dependencies });
    for (const diagnostic of diagnosticsOfDraft(draft, reading)) diagnostics.push(diagnostic);
    const first = byKey.get(keyOf(draft))?.[0];
    if (first !== undefined && first !== draft) diagnostics.push(duplicateDiagnostic(draft, first));
  }
  const cycles = cyclesByKey(linked);
  for (const cycle of new Set(cycles.values())) {
    const head = byKey.get(cycle[0]?.toLowerCase() ?? "")?.[0];
    if (head === undefined) continue;
    diagnostics.push({
      message: `These tasks wait for each other, so none of them can be run: ${arrows(cycle)}. Remove one dependency.`,
      position: head.position,
    });
  }
  const tasks = linked.map((task) => toJudged(task, { byKey, cycles, runnable: options.runnable }));
  return { tasks, diagnostics };
}

interface Context extends JudgeOptions {
  readonly byKey: ReadonlyMap<string, readonly DraftTask[]>;
  readonly cycles: ReadonlyMap<string, readonly string[]>;
}

function toJudged(task: Linked, context: Context): JudgedTask {
  return {
    id: task.id,
    title: task.title,
    status: task.status,
    statusText: task.statusText,
    dependencies: task.links.map((link) => link.id),
    acceptance: task.acceptance,
    position: task.position,
    statusPosition: task.statusPosition,
    notRunnable: reasonAgainst(task, context),
  };
}

function reasonAgainst(task: Linked, context: Context): string | null {
  if (!isTaskId(task.id)) return "has an id that cannot be part of a branch name";
  if ((context.byKey.get(keyOf(task))?.length ?? 0) > 1) return "has an id that is used twice";
  return (
    task.refusal ?? reasonOfStatus(task, context.runnable) ?? reasonOfDependencies(task, context)
  );
}

function reasonOfStatus(task: Linked, runnable: JudgeOptions["runnable"]): string | null {
  if (task.status === "unknown") return `has an unknown status (${shown(task.statusText)})`;
  if (task.status !== "ready" && task.status !== "planned") return `is ${task.status}`;
  if (runnable.includes(task.status)) return null;
  return `is ${task.status}; the setting plan.runnable does not list that`;
}

function reasonOfDependencies(task: Linked, context: Context): string | null {
  const missing = task.links.filter((link) => link.kind === "not-in-plan");
  if (missing.length > 0) {
    return `depends on ${missing.map((link) => shown(link.id)).join(", ")}, not in the plan`;
  }
  const cycle = context.cycles.get(keyOf(task));
  if (cycle !== undefined) return `waits for itself: ${arrows(cycle)}`;
  const open = task.links.flatMap((link) => openState(link, context) ?? []);
  return open.length === 0 ? null : `waits for ${open.join(", ")}`;
}

/** `T1 (planned)`, or null when the dependency is done. */
function openState(link: Dependency, context: Context): string | null {
  const targets = context.byKey.get(link.id.toLowerCase()) ?? [];
  if (targets.length > 1) return `${shown(link.id)} (id used twice)`;
  const status = targets[0]?.status ?? "unknown";
  return status === "done" ? null : `${shown(link.id)} (${status})`;
}

function keyOf(task: { readonly id: string }): string {
  return task.id.toLowerCase();
}

function groupByKey(drafts: readonly DraftTask[]): ReadonlyMap<string, readonly DraftTask[]> {
  const groups = new Map<string, DraftTask[]>();
  for (const draft of drafts) {
    const group = groups.get(keyOf(draft));
    if (group === undefined) groups.set(keyOf(draft), [draft]);
    else group.push(draft);
  }
  return groups;
}

/** For every task in a cycle of tasks that are not done: the ids of its cycle. */
function cyclesByKey(tasks: readonly Linked[]): ReadonlyMap<string, readonly string[]> {
  const open = tasks.filter((task) => task.status !== "done");
  const idByKey = new Map(open.map((task) => [keyOf(task), task.id]));
  const waitsFor = new Map(
    open.map((task) => [keyOf(task), task.links.map((link) => link.id.toLowerCase())]),
  );
  return new Map(
    findCycles(waitsFor).flatMap((keys) => {
      const ids = keys.map((key) => idByKey.get(key) ?? key);
      return keys.map((key): [string, readonly string[]] => [key, ids]);
    }),
  );
}

/** `T1 -> T2 -> T1`; the middle of a long cycle is left out, since every task of it carries this text. */
function arrows(cycle: readonly string[]): string {
  const [first = ""] = cycle;
  const shortened =
    cycle.length > LONGEST_CYCLE
      ? [...cycle.slice(0, LONGEST_CYCLE - 1), "…", ...cycle.slice(-1)]
      : cycle;
  return [...shortened, first].map((id) => shown(id)).join(" -> ");
}
