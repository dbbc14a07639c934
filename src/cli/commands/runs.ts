import type { Command } from "commander";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import type { RunSummary } from "../../core/run-record.ts";
import { type Context, historyOf, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define, gather } from "../define.ts";
import { runFilter } from "../run-filter.ts";
import { ago } from "../output/duration.ts";
import { stateText } from "../output/state.ts";
import { type Segment, bold, dim } from "../output/text.ts";

export function runsCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "runs",
    description:
      "Lists runs with their task, state and branch. Outside of a repository, or with --all, the runs of every repository of this host, each with its path. Filters add up.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop runs",
      "guardloop runs --state failed --state interrupted --since 12h",
      "guardloop runs --all --limit 20 --json",
    ],
  })
    .option("--all", "runs of every repository")
    .option("--state <state>", "only runs in this state; may be given several times", gather)
    .option("--task <id>", "only runs of this task")
    .option(
      "--branch <name>",
      "only the run with this agent branch, or runs that land on this branch",
    )
    .option("--since <when>", "only runs begun since then: 2026-11-29, 2026-11-29T18:00, 2h, 3d")
    .option("--until <when>", "only runs begun until then; a date includes its day")
    .option("--limit <count>", "at most so many, the newest");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context, options, format } = call;
  const filter = runFilter(call);
  if (!filter.ok) return filter;
  const principal = await principalOf(context);
  const opened = await historyOf(context);
  if (!opened.ok) return opened;
  using history = opened.value;
  const here = principal.ok && options.all !== true ? principal.value.repositoryId : undefined;
  const others = ["state", "task", "branch", "since", "until"];
  const isPlain = others.every((name) => options[name] === undefined);
  const all = history.runs(here, isPlain ? filter.value.limit : undefined);
  const runs = all.filter(filter.value.matches).slice(0, filter.value.limit);
  if (format === "json") {
    context.output.json({ version: 1, runs: runs.map(listed) });
    return ok(EXIT.done);
  }
  if (runs.length === 0) {
    const none = "No run yet. Start one with: guardloop run";
    context.output.result(all.length === 0 ? none : "No run is like that; see guardloop runs.");
    return ok(EXIT.done);
  }
  context.output.table(rowsOf(runs, context.now(), here === undefined));
  return ok(EXIT.done);
}

function rowsOf(
  runs: readonly RunSummary[],
  now: Date,
  ofAll: boolean,
): readonly (readonly Segment[])[] {
  const head = ["RUN", "STATE", "TASK", "STARTED", ...(ofAll ? ["REPOSITORY"] : [])];
  return [
    [...head, "BRANCH OR FAILURE"].map((title) => dim(title)),
    ...runs.map((run) => [
      bold(run.id),
      stateText(run.state),
      run.task ?? "-",
      ago(run.startedAt, now),
      ...(ofAll ? [run.topLevel] : []),
      run.failure === null ? (run.branch ?? "") : `${run.failure.code} in ${run.failure.stage}`,
    ]),
  ];
}

function listed(run: RunSummary) {
  return { ...summaryOf(run), repository: run.topLevel };
}

/** The documented shape of one run; see docs/json.md. */
export function summaryOf(run: RunSummary) {
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
