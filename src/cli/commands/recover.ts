import { join } from "node:path";
import type { Command } from "commander";
import { agentAdapter } from "../../agents/registry.ts";
import { EXIT, type Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { keepAside } from "../../history/damage.ts";
import type { History } from "../../history/port.ts";
import type { Recovery } from "../../run/afterwards/recovery.ts";
import { recover } from "../../run/recover.ts";
import { type Context, gitProgram, historyOf, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { answeringEngines } from "../engines.ts";
import { humanProgress } from "../output/progress.ts";
import { yellow } from "../output/text.ts";
import { allPools } from "../prepare-run.ts";

export function recoverCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "recover",
    summary: "finish or clean up runs whose process died",
    description:
      "Finds runs of this repository whose owner is gone, imports what had been collected, salvages the rest, returns leases, and removes containers and snapshots that nobody owns. Works without the history, too: one that is damaged is kept aside, and runs are found by their directories. `run` does the same when it starts. Calling it twice changes nothing more.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused],
    examples: ["guardloop recover"],
  });
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const git = gitProgram(context);
  if (!git.ok) return git;
  const principal = await principalOf(context);
  if (!principal.ok) return principal;
  const engines = await answeringEngines(context);
  if (!engines.ok) return engines;
  const opened = await openOrBegin(context);
  if (!opened.ok) return opened;
  using history = opened.value.history;
  const recovery = await recover({
    env: context.env,
    gitProgram: git.value,
    principal: principal.value,
    engines: engines.value,
    pools: await allPools(context, principal.value),
    history,
    adapter: agentAdapter("command"),
    guestBundle: join(context.packageRoot, "dist/guest/guest.mjs"),
    now: context.now,
    report: call.format === "json" ? () => undefined : humanProgress(context.output),
    signal: context.interrupt,
  });
  say(call, { ...recovery, actions: [...opened.value.actions, ...recovery.actions] });
  return ok(recovery.problems.length > 0 ? EXIT.failed : EXIT.done);
}

/** A damaged history is kept aside and a new one begun; what recovery finds on the disk fills it. */
async function openOrBegin(
  context: Context,
): Promise<Result<{ history: History; actions: readonly string[] }, Failure>> {
  const opened = await historyOf(context);
  if (opened.ok) return ok({ history: opened.value, actions: [] });
  if (opened.error.code !== "history-damaged") return opened;
  const aside = await keepAside(context.env.stateDir, context.now());
  const begun = await historyOf(context);
  return begun.ok
    ? ok({ history: begun.value, actions: [`The damaged history is kept as ${aside}.`] })
    : begun;
}

function say(call: Call, recovery: Recovery): void {
  const { output } = call.context;
  if (call.format === "json") output.json({ version: 1, ...recovery });
  else {
    for (const line of recovery.actions) output.result(line);
    for (const line of recovery.problems) output.result(yellow("Not done: "), line);
    if (recovery.actions.length + recovery.problems.length === 0)
      output.result("Nothing to recover.");
  }
}
