import type { Command } from "commander";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { type Context, historyOf, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { ago } from "../output/duration.ts";
import { stateText } from "../output/state.ts";
import { bold, dim } from "../output/text.ts";

export function runsCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "runs",
    summary: "list the runs of this repository, newest first",
    description:
      "Lists runs with their task, state and branch. Outside of a repository, or with --all, the runs of every repository.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop runs", "guardloop runs --all --json"],
  }).option("--all", "runs of every repository");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context, options, format } = call;
  const principal = await principalOf(context);
  const opened = await historyOf(context);
  if (!opened.ok) return opened;
  using history = opened.value;
  const here = principal.ok && options.all !== true ? principal.value.repositoryId : undefined;
  const runs = history.runs(here);
  if (format === "json") {
    context.output.json({ version: 1, runs: runs.map(summaryOf) });
    return ok(EXIT.done);
  }
  if (runs.length === 0) {
    context.output.result("No run yet. Start one with: guardloop run");
    return ok(EXIT.done);
  }
  context.output.table([
    [dim("RUN"), dim("STATE"), dim("TASK"), dim("STARTED"), dim("BRANCH OR FAILURE")],
    ...runs.map((run) => [
      bold(run.id),
      stateText(run.state),
      run.task ?? "-",
      ago(run.startedAt, context.now()),
      run.failure === null ? (run.branch ?? "") : `${run.failure.code} in ${run.failure.stage}`,
    ]),
  ]);
  return ok(EXIT.done);
}

/** The documented shape of one run; see docs/json.md. */
export function summaryOf(run: RunRecord) {
  const { id, task, state, branch, base, head, startedAt, endedAt, failure } = run;
  return {
    id,
    task,
    state,
    branch,
    base,
    head,
    startedAt,
    endedAt,
    failure:
      failure === null
        ? null
        : { stage: failure.stage, code: failure.code, message: failure.message },
  };
}
