import type { Command } from "commander";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord, RunSummary } from "../../core/run-record.ts";
import type { History } from "../../history/port.ts";
import { taskOf } from "../../run/choice/track-record.ts";
import { attemptsOf, newestAttempts } from "../../run/compare/attempts.ts";
import { type MeasuredRun, measureRun } from "../../run/compare/measure-run.ts";
import { type Context, historyOf, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define, textOption } from "../define.ts";
import { findRun } from "../find-run.ts";
import { comparisonTable, nextLines } from "../output/comparison.ts";

export function compareCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "compare",
    description:
      "Shows runs side by side: state, agent, validation, size of the change, findings, time, tokens, cost and the most that the container used. Without an argument these are the newest attempts that `guardloop run --attempts` made here; with --task the newest attempts at that task, or all its runs where there were no attempts; with one attempt all that belong to it. Sizes and findings are computed from the imported commits; tokens and cost are what the agent says.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop compare",
      "guardloop compare --task T4",
      "guardloop compare 261129-16 261129-17 --json",
    ],
  })
    .argument("[run...]", "ids, unique prefixes, or @last")
    .option("--task <ID>", "the attempts at this task");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const principal = await principalOf(call.context);
  if (!principal.ok) return principal;
  const opened = await historyOf(call.context);
  if (!opened.ok) return opened;
  using history = opened.value;
  const { repositoryId, git } = principal.value;
  const chosen = chooseRuns(call, history, repositoryId);
  if (!chosen.ok) return chosen;
  const { stateDir } = call.context.env;
  const measured = await Promise.all(chosen.value.map((run) => measureRun(run, { git, stateDir })));
  if (call.format === "json") call.context.output.json(toJson(measured));
  else print(call, measured);
  return ok(EXIT.done);
}

function chooseRuns(
  call: Call,
  history: History,
  repositoryId: string,
): Result<readonly RunRecord[], Failure> {
  const task = textOption(call, "task");
  if (call.args.length > 0 && task !== undefined)
    return fail("usage", "Runs and --task are two ways to say what to compare.", {
      cure: "Name runs, or a task.",
    });
  if (call.args.length > 0) return namedRuns(call, history, repositoryId);
  const runs = history.runs(repositoryId);
  const attempts = newestAttempts(runs, task);
  if (attempts.length > 0) return ok(whole(history, attempts));
  if (task === undefined)
    return fail("unknown-run", "There are no attempts in this repository yet.", {
      cure: "Make some with `guardloop run --attempts 2`, or name the runs to compare.",
    });
  const ofTask = runs.filter((run) => taskOf(run) === task).toReversed();
  return ofTask.length > 0
    ? ok(whole(history, ofTask))
    : fail("unknown-run", `There is no run of task ${task} yet.`);
}

function namedRuns(
  call: Call,
  history: History,
  repositoryId: string,
): Result<readonly RunRecord[], Failure> {
  const found: RunRecord[] = [];
  for (const text of call.args) {
    const run = findRun(history, text, repositoryId);
    if (!run.ok) return run;
    if (run.value.repositoryId !== repositoryId)
      return fail(
        "unknown-run",
        `Run ${run.value.id} belongs to another repository, ${run.value.topLevel}.`,
      );
    if (!found.some((one) => one.id === run.value.id)) found.push(run.value);
  }
  const [only] = found;
  // One run is nothing to compare; one of several attempts means all of them.
  if (found.length === 1 && only !== undefined && only.attempt !== null)
    return ok(whole(history, attemptsOf(history.runs(repositoryId), only.attempt.group)));
  return ok(found);
}

/** With their stages, which a list of many does without. */
function whole(history: History, runs: readonly RunSummary[]): readonly RunRecord[] {
  return runs.map(({ id }) => history.run(id)).filter((run) => run !== undefined);
}

function print({ context: { output } }: Call, measured: readonly MeasuredRun[]): void {
  output.table(comparisonTable(measured));
  output.result("");
  for (const line of nextLines(measured.map(({ run }) => run))) output.result(...line);
}

/** The documented shape; see docs/json.md. */
function toJson(measured: readonly MeasuredRun[]) {
  return {
    version: 1,
    runs: measured.map(({ run, findings, ...numbers }) => ({
      id: run.id,
      task: taskOf(run) ?? "",
      state: run.state,
      agent: run.agent,
      attempt: run.attempt,
      branch: run.branch,
      failure: run.failure?.code ?? null,
      ...numbers,
      findings: findings === null ? null : countsOf(findings),
    })),
  };
}

function countsOf(findings: NonNullable<MeasuredRun["findings"]>) {
  const count = (severity: "block" | "warn" | "info"): number =>
    findings.filter((one) => one.severity === severity).length;
  return { block: count("block"), warn: count("warn"), info: count("info") };
}
