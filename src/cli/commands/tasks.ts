import type { Command } from "commander";
import { EXIT, type Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { headOf } from "../../git/principal.ts";
import type { Settings } from "../../config/settings.ts";
import { readPlan } from "../../run/choice/plan.ts";
import { givenUp } from "../../run/choice/track-record.ts";
import type { TaskPlan } from "../../tasks/task.ts";
import { type Context, historyOf, repositoryOf } from "../context.ts";
import {
  type Call,
  type CommandEnd,
  type Finish,
  action,
  define,
  gather,
  listOption,
} from "../define.ts";
import { bold, dim, green, yellow } from "../output/text.ts";
import { settingsFor } from "../settings.ts";

export function tasksCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "tasks",
    description:
      "Reads the task plan from the last commit of the current branch, as `run` does; edits count once they are committed.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop tasks", "guardloop tasks --plan 'plans/*.md' --json"],
  }).option("--plan <GLOB>", "where the plan is, from the repository's root", gather);
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const plan = await loadPlan(call);
  if (!plan.ok) return plan;
  if (call.format === "json") {
    const { tasks, diagnostics } = plan.value;
    call.context.output.json({ version: 1, tasks, diagnostics });
  } else print(call, plan.value);
  return ok(EXIT.done);
}

async function loadPlan(call: Call): Promise<Result<TaskPlan, Failure>> {
  const found = await repositoryOf(call.context);
  if (!found.ok) return found;
  const { principal } = found.value;
  const head = await headOf(found.value);
  if (!head.ok) return head;
  const globs = listOption(call, "plan");
  const at = { principal, commit: head.value.commit };
  const resolved = await settingsFor(
    call.context,
    at,
    globs.length > 0 ? { "plan.paths": globs } : {},
  );
  if (!resolved.ok) return resolved;
  for (const text of resolved.value.notices) call.context.output.progress(yellow("note: "), text);
  const { plan, run } = resolved.value.settings;
  const read = await readPlan(principal.git, head.value.commit, plan);
  if (!read.ok) return read;
  return ok(await withGivenUp(call, principal.repositoryId, { plan: read.value, run }));
}

/** A task that fails again and again is not run unless it is named; where there is no history, none is. */
async function withGivenUp(
  { context }: Call,
  repositoryId: string,
  { plan, run }: { readonly plan: TaskPlan; readonly run: Settings["run"] },
): Promise<TaskPlan> {
  const opened = await historyOf(context);
  if (!opened.ok) return plan;
  using history = opened.value;
  const reasons = givenUp(history.runs(repositoryId), run.giveUpAfter);
  const tasks = plan.tasks.map((task) => ({
    ...task,
    notRunnable: task.notRunnable ?? reasons.get(task.id) ?? null,
  }));
  return { ...plan, tasks };
}

function print({ context: { output } }: Call, plan: TaskPlan): void {
  if (plan.tasks.length === 0) output.result("The plan has no task.");
  else
    output.table([
      [dim("TASK"), dim("STATUS"), dim("CAN RUN"), dim("WHERE"), dim("TITLE")],
      ...plan.tasks.map((task) => [
        bold(task.id),
        task.status === "unknown" ? task.statusText : task.status,
        task.notRunnable === null ? green("yes") : `no: ${task.notRunnable}`,
        `${task.position.file}:${task.position.line}`,
        task.title,
      ]),
    ]);
  for (const { position, message } of plan.diagnostics)
    output.result(yellow(`${position.file}:${position.line}: `), message);
}
