import type { Command } from "commander";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { History } from "../../history/port.ts";
import {
  type StopServices,
  refuseUnreached,
  runsOfOwner,
  tellToStop,
  waitForEnd,
} from "../../run/stop.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define, textOption } from "../define.ts";
import { namingRun } from "../output/failure.ts";
import { humanProgress } from "../output/progress.ts";
import { stateText } from "../output/state.ts";
import { bold, yellow } from "../output/text.ts";
import { recoverRepository } from "../recover-repository.ts";
import { settingsHere } from "../settings.ts";
import { type WithRun, principalOfRun, withRun } from "../with-run.ts";

/** Long enough for the guest's grace, a salvage and the return of the lease. */
const STANDARD_WAIT_S = 600;

export function stopCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "stop",
    description:
      "Ends a run in order, as Ctrl-C in its own terminal does: the agent is asked to end, then killed; what it did is salvaged; the lease is returned. The process that owns the run takes no further task. Waits until the run has ended and says how. With --now the process is ended at once, and what it left is recovered here.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.interrupted],
    examples: ["guardloop stop @last", "guardloop stop 261129-16 --now"],
  })
    .argument("<run>", "id, unique prefix, or @last")
    .option("--now", "end the process at once, as a second Ctrl-C does, then recover")
    .option("--wait <seconds>", `how long to wait for the end (standard ${STANDARD_WAIT_S})`);
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const waitSeconds = Number(textOption(call, "wait") ?? STANDARD_WAIT_S);
  if (!Number.isFinite(waitSeconds) || waitSeconds < 0)
    return fail("usage", "--wait takes a number of seconds.", {
      cure: "For example: guardloop stop @last --wait 60.",
    });
  return withRun(call, (at) => stop(call, at, waitSeconds * 1000));
}

async function stop(call: Call, at: WithRun, limitMs: number): Promise<CommandEnd> {
  const { run, history } = at;
  if (run.state !== "running")
    return fail("not-in-this-state", `Run ${run.id} has ended already: it is ${run.state}.`, {
      cure: `See guardloop show ${run.id}.`,
    });
  const how = call.options.now === true ? "at-once" : "in-order";
  const services: StopServices = {
    env: call.context.env,
    history,
    now: call.context.now,
    signal: call.context.interrupt,
  };
  const others = runsOfOwner(history, run).filter((one) => one.id !== run.id);
  const told = await tellToStop(services, { run, how });
  if (!told.ok) return endedMeanwhile(history, run) ? report(call, at, { how, others }) : told;
  announce(call, run, { how, others });
  const ended =
    how === "in-order"
      ? await waitInOrder(call, services, { run, limitMs })
      : await recoverNow(withPatience(call, limitMs), at);
  if (!ended.ok) return ended;
  return report(call, at, { how, others });
}

function endedMeanwhile(history: History, run: RunRecord): boolean {
  return history.run(run.id)?.state !== "running";
}

interface Stopping {
  readonly how: "in-order" | "at-once";
  readonly others: readonly RunRecord[];
}

function announce({ context, format }: Call, run: RunRecord, { how, others }: Stopping): void {
  if (format === "json") return;
  const { output } = context;
  if (how === "at-once") output.progress(`Ended process ${run.owner.pid} of run ${run.id}.`);
  else output.progress(`Told run ${run.id} to stop; its process takes no further task.`);
  if (others.length > 0)
    output.progress(
      `Runs of the same process end with it: ${others.map((one) => one.id).join(", ")}.`,
    );
}

async function waitInOrder(
  { context, format }: Call,
  services: StopServices,
  { run, limitMs }: { readonly run: RunRecord; readonly limitMs: number },
): Promise<Result<void, Failure>> {
  const tell = format === "json" ? () => undefined : humanProgress(context.output);
  const waited = await waitForEnd(services, run, {
    limitMs,
    onEvent: (stored) => tell({ type: "event", stored }),
  });
  switch (waited) {
    case "ended":
      return ok(undefined);
    case "owner-gone":
      return refuseUnreached(run, "gone");
    case "interrupted":
      return fail("interrupted", `You stopped waiting; run ${run.id} is still ending.`, {
        cure: `See guardloop watch ${run.id}.`,
      });
    case "out-of-patience":
      return fail("still-ending", `Run ${run.id} was told to stop and has not ended yet.`, {
        cure: `Wait, or run \`guardloop stop ${run.id} --now\`.`,
      });
  }
}

/** What recovery does by itself is bounded, but validations of the project's may take long: those are cut short. */
function withPatience(call: Call, limitMs: number): Call {
  const { context } = call;
  const interrupt = AbortSignal.any([context.interrupt, AbortSignal.timeout(limitMs)]);
  return { ...call, context: { ...context, interrupt } };
}

/** The process is gone; the container, the lease and the work are brought to their end here. */
async function recoverNow(call: Call, { run, principal }: WithRun): Promise<Result<void, Failure>> {
  const owned = await principalOfRun(call, { run, principal });
  if (!owned.ok) return owned;
  // Another dead run whose agent shall be adopted is not for this command to wait for.
  const settings = await settingsHere(call.context, {});
  const adopts = settings.ok && settings.value.settings.recovery.containers === "adopt";
  const recovery = await recoverRepository(call, owned.value, adopts ? "leave" : "stop");
  if (!recovery.ok) return recovery;
  for (const line of recovery.value.problems)
    call.context.output.progress(yellow("Not done: "), line);
  return ok(undefined);
}

/** How it ended, as the record has it now. */
function report(call: Call, { run, history }: WithRun, { how, others }: Stopping): CommandEnd {
  const { output } = call.context;
  const ended = history.run(run.id);
  if (ended === undefined || ended.state === "running")
    return fail("still-ending", `Run ${run.id} is not brought to its end yet.`, {
      cure: "Run `guardloop recover` in its repository.",
    });
  const { state, salvagedPatches, failure, branch } = ended;
  if (call.format === "json") {
    const message = failure?.message ?? "";
    const also = others.map((one) => one.id);
    output.json({ version: 1, run: run.id, how, state, message, salvagedPatches, also });
    return ok(EXIT.done);
  }
  output.result(bold(run.id), "  ", stateText(state), branch === null ? "" : `  ${branch}`);
  if (failure === null) {
    output.result("It came to its own end before it could be stopped.");
    return ok(EXIT.done);
  }
  output.result(failure.message);
  if (salvagedPatches > 0)
    output.result(`What was done is kept: guardloop salvage ${run.id} --task ID --message TEXT`);
  else output.result(namingRun(failure.cure, run.id));
  return ok(EXIT.done);
}
