import type { Command } from "commander";
import { join } from "node:path";
import { EXIT, exitStatusOf } from "../../core/failures.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { History } from "../../history/port.ts";
import type { SeriesShape } from "../../run/choice/shape.ts";
import { enginesThatMayHold } from "../../run/afterwards/engine-marks.ts";
import { promote } from "../../run/decide/promote.ts";
import type { FinishedRun } from "../../run/flow.ts";
import { recover } from "../../run/recover.ts";
import { type SeriesEnd, type SeriesServices, runSeries } from "../../run/series/series.ts";
import { announce } from "../announce.ts";
import { type Context, gitProgram, historyOf } from "../context.ts";
import {
  type Call,
  type CommandEnd,
  type Finish,
  action,
  define,
  gather,
  listOption,
} from "../define.ts";
import { answeringEngines } from "../engines.ts";
import { notifierFor } from "../notify-channels.ts";
import { tidyAfterRun } from "../house/after-run.ts";
import { printFailure } from "../output/failure.ts";
import { liveProgress } from "../output/live-progress.ts";
import { type Labels, jsonProgress } from "../output/progress.ts";
import { seriesTable } from "../output/series-table.ts";
import { dim, yellow } from "../output/text.ts";
import { type PreparedRun, allPools, prepareRun } from "../prepare-run.ts";
import { addSettingOptions, settingFlags } from "../setting-options.ts";

export function runCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "run",
    description:
      "Takes one task after another from the task plan, or with --parallel several at once. For each: leases a worktree, copies the base commit into a throwaway snapshot, runs the agent in a hardened container, and brings its work back as checked patches on a branch agent/<task-id>-<run-id>. Your checkout is not touched until you promote.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.resultRefused, EXIT.interrupted],
    examples: [
      "guardloop run --agent command -- ./my-agent.sh",
      "guardloop run --agent codex --network gateway",
      "guardloop run --max-tasks 3 --keep-going",
      "guardloop run --parallel 2 --max-tasks 6 --keep-going --max-failures 3",
      "guardloop run --task T4 --attempts 2 --agent codex,claude --network gateway",
    ],
  }).argument("[command...]", "after --, the program and arguments of the agent");
  command.option("--task <ID>", "offer only this task; may be given several times", gather);
  addSettingOptions(command);
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context, format } = call;
  const words = refuseStrayWords(call);
  if (!words.ok) return words;
  const git = gitProgram(context);
  if (!git.ok) return git;
  const prepared = await prepareRun(context, {
    flags: settingFlags(call),
    wanted: listOption(call, "task"),
    secretPaths: format === "json" ? "unwanted" : "wanted",
  });
  if (!prepared.ok) return prepared;
  const opened = await historyOf(context);
  if (!opened.ok) return opened;
  using history = opened.value;
  using view =
    format === "json"
      ? { report: jsonProgress(context.output), [Symbol.dispose]: () => undefined }
      : liveProgress(context.output, context.now, labelsFor(prepared.value));
  const { settings } = prepared.value.invocation;
  const notifying = notifierFor(context, { history, settings }, view.report);
  if (!notifying.ok) return notifying;
  const told = notifying.value;
  const report: SeriesServices["report"] = (progress) => {
    view.report(progress);
    told.observe(progress);
  };
  const services: SeriesServices = {
    env: context.env,
    gitProgram: git.value,
    principal: prepared.value.invocation.principal,
    engine: prepared.value.engine,
    leases: prepared.value.leases,
    history,
    adapter: prepared.value.invocation.adapter,
    gateway: prepared.value.gateway,
    guestBundle: join(context.packageRoot, "dist/guest/guest.cjs"),
    remover: join(context.packageRoot, "dist/remover/remover.mjs"),
    now: context.now,
    report,
    signal: context.interrupt,
  };
  for (const text of prepared.value.notices) report({ type: "notice", runId: null, text });
  announce(call, prepared.value);
  await recoverFirst(context, services, prepared.value);
  // An adopted run can last; who ended it did not want another one after it.
  if (context.interrupt.aborted) return fail("interrupted", "Interrupted before a task was taken.");
  const series = await runSeries(services, prepared.value.invocation, {
    onReady: (run) => afterReady({ context, history, prepared: prepared.value }, run),
  });
  if (series.ok) told.seriesEnded(recordsOf(history, series.value));
  await told.settled();
  await tidyAfterRun(services, settings);
  view[Symbol.dispose]();
  return series.ok ? summarise(call, { services, prepared: prepared.value }, series.value) : series;
}

/** Where runs go on at once, each line says whose it is. */
function labelsFor({ invocation: { shape } }: PreparedRun): Labels {
  return shape.width > 1 ? "every-line" : "none";
}

function refuseStrayWords({ args, context }: Call): Result<void, Failure> {
  const [stray] = args;
  if (stray === undefined || args.length === context.afterDashes.length) return ok(undefined);
  return fail("usage", `"${stray}" is not understood here.`, {
    cure: "Put the agent's program behind two dashes: guardloop run --agent command -- PROGRAM ARGS.",
  });
}

/** What an earlier process left is brought to an end, and said, before anything new begins. */
async function recoverFirst(
  context: Context,
  services: SeriesServices,
  { invocation, glance }: PreparedRun,
): Promise<void> {
  const { repositoryId } = services.principal;
  const kinds = await enginesThatMayHold(context.env, { history: services.history, repositoryId });
  const [pools, others] = await Promise.all([
    allPools(context, services.principal),
    answeringEngines(context, kinds),
  ]);
  const engines = others.ok ? others.value : [services.engine];
  const { containers: orphans } = invocation.settings.recovery;
  const { actions, problems } = await recover({ ...services, pools, engines, orphans, glance });
  for (const text of [...actions, ...problems])
    services.report({ type: "notice", runId: null, text });
}

async function afterReady(
  at: { readonly context: Context; readonly history: History; readonly prepared: PreparedRun },
  run: FinishedRun,
): Promise<Result<void, Failure>> {
  const { settings, principal } = at.prepared.invocation;
  if (settings.run.promote === "manual") return ok(undefined);
  const stored = at.history.run(run.runId);
  if (stored === undefined) return ok(undefined);
  const git = gitProgram(at.context);
  if (!git.ok) return git;
  const promoted = await promote(
    {
      env: at.context.env,
      gitProgram: git.value,
      principal,
      history: at.history,
      now: at.context.now,
    },
    {
      run: stored,
      how: "fast-forward",
      by: at.context.env.user,
      why: "--promote auto",
      accepted: [],
      acceptedFor: "this-run",
      mode: "for-real",
      withoutValidation: undefined,
      validateTree: async () => ok(null),
      onLanding: () => undefined,
    },
  );
  return promoted.ok ? ok(undefined) : promoted;
}

interface Summarised {
  readonly services: SeriesServices;
  readonly prepared: PreparedRun;
}

async function summarise(
  call: Call,
  { services: { history, principal }, prepared }: Summarised,
  series: SeriesEnd,
): Promise<CommandEnd> {
  const { output, env } = call.context;
  const ended = call.context.interrupt.aborted ? EXIT.interrupted : EXIT.done;
  const status = series.failure === undefined ? ended : exitStatusOf(series.failure.failure.code);
  const ids = series.runs.map((run) => run.runId);
  if (call.format === "json") {
    output.json({ version: 1, type: "end", runs: ids, why: series.why, exitStatus: status });
    return ok(status);
  }
  if (series.failure !== undefined)
    printFailure(output, series.failure.failure, { format: "human", runId: series.failure.runId });
  output.result("");
  const runs = recordsOf(history, series);
  output.table(await seriesTable(runs, { git: principal.git, stateDir: env.stateDir }));
  output.result(dim(series.why));
  nextSteps(call, runs, prepared.invocation.shape.kind);
  return ok(status);
}

function recordsOf(history: History, { runs }: SeriesEnd): readonly RunRecord[] {
  return runs.map(({ runId }) => history.run(runId)).filter((run) => run !== undefined);
}

function nextSteps(
  { context: { output } }: Call,
  runs: readonly RunRecord[],
  kind: SeriesShape["kind"],
): void {
  const [ready, another] = runs.filter((run) => run.state === "ready");
  if (kind === "attempts") output.result("Compare them: guardloop compare");
  const failed = runs.find((run) => run.state === "failed");
  if (ready !== undefined) {
    output.result("Look at it:  guardloop review ", ready.id);
    output.result("Land it:     guardloop promote ", ready.id);
    if (another !== undefined && kind === "independent")
      output.result("Then the next: guardloop promote ", another.id, " --rebase");
  }
  if (failed !== undefined) output.result(yellow("What failed: "), "guardloop show ", failed.id);
}
