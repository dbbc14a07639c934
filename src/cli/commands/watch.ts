import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { History } from "../../history/port.ts";
import { mayBeAlive } from "../../process/owner.ts";
import { endLivingChildren } from "../../process/spawn.ts";
import { refuseUnreached } from "../../run/stop.ts";
import { type RunView, runWatcher } from "../../run/watching/watcher.ts";
import { type Context, historyOf, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { engineOf } from "../engines.ts";
import { findRun } from "../find-run.ts";
import { namingRun } from "../output/failure.ts";
import { stateText } from "../output/state.ts";
import { bold, dim } from "../output/text.ts";
import { type WatchOutput, watchOutput } from "../output/watch-output.ts";

const POLL_MS = 500;
const CTRL_C = "\u0003";

export function watchCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "watch",
    description:
      "Shows the stage, what the agent did last, its tokens, what its container uses, how many files it touched and the time that is left. On a terminal it draws in place, elsewhere it prints a line for every change. It ends when the run ends; q or Ctrl-C ends it before, and leaves the run alone.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop watch", "guardloop watch @last --json"],
  }).argument(
    "[run]",
    "id, unique prefix, or @last; without it, the running run of this repository",
  );
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const principal = await principalOf(context);
  const opened = await historyOf(context);
  if (!opened.ok) return opened;
  using history = opened.value;
  const here = principal.ok ? principal.value.repositoryId : undefined;
  const [text] = call.args;
  const run = text === undefined ? runningHere(call, history, here) : findRun(history, text, here);
  if (!run.ok) return run;
  const ended = await watch(call, history, run.value);
  // An engine that is still measuring for us would hold the process up.
  endLivingChildren();
  return ended;
}

/** The newest running run whose owner may be alive. */
function runningHere(
  { context, format }: Call,
  history: History,
  repositoryId: string | undefined,
): Result<RunRecord, Failure> {
  const [run, ...more] = history
    .runsInState(["running"], repositoryId)
    .filter((one) => mayBeAlive(one.owner, context.env.hostname));
  if (run === undefined) {
    const where = repositoryId === undefined ? "" : " of this repository";
    return fail("unknown-run", `No run${where} is running.`, {
      cure: "See guardloop runs for those that have ended.",
    });
  }
  if (more.length > 0 && format === "human")
    context.output.progress(`Also running: ${more.map((one) => one.id).join(", ")}.`);
  return ok(run);
}

async function watch(call: Call, history: History, run: RunRecord): Promise<CommandEnd> {
  const { context } = call;
  const quit = new AbortController();
  using keys = context.keyboard?.listen((key) => {
    if (key === "q" || key === CTRL_C) quit.abort();
  });
  using output = watchOutput(call, { quitWith: keys === undefined ? "Ctrl-C" : "q or Ctrl-C" });
  await using watcher = runWatcher(
    {
      env: context.env,
      history,
      async engine(kind) {
        const engine = await engineOf(context, kind, "");
        return engine.ok ? engine.value : undefined;
      },
      now: context.now,
    },
    run.id,
  );
  const signal = AbortSignal.any([quit.signal, context.interrupt]);
  let view: RunView | undefined;
  while (!signal.aborted) {
    view = await watcher.look();
    if (view === undefined) return fail("unknown-run", `The record of run ${run.id} is gone.`);
    const isRunning = view.run.state === "running";
    if (isRunning && view.owner === "gone") return refuseUnreached(view.run, "gone");
    output.show(view);
    if (!isRunning) return finished(call, view, output);
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  output.end();
  if (call.format === "human") context.output.result(dim(`Run ${run.id} goes on.`));
  return ok(EXIT.done);
}

function finished({ context, format }: Call, { run }: RunView, output: WatchOutput): CommandEnd {
  output.end();
  if (format === "json") return ok(EXIT.done);
  const { failure, branch } = run;
  context.output.result(
    bold(run.id),
    "  ",
    stateText(run.state),
    branch === null ? "" : `  ${branch}`,
  );
  if (failure !== null) {
    context.output.result(failure.message);
    context.output.result(namingRun(failure.cure, run.id));
  } else if (run.state === "ready") context.output.result("Look at it:  guardloop review ", run.id);
  return ok(EXIT.done);
}
