import type { Command } from "commander";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { Decision, DecisionServices } from "../../run/decide/decision.ts";
import { discard, restore } from "../../run/decide/discard.ts";
import { type Promotion, promote } from "../../run/decide/promote.ts";
import { rollback } from "../../run/decide/rollback.ts";
import { parentsToPromote, runsOnTop } from "../../run/decide/stack.ts";
import type { Context } from "../context.ts";
import {
  type Call,
  type CommandEnd,
  type CommandSpec,
  type Finish,
  action,
  define,
  gather,
  listOption,
  textOption,
} from "../define.ts";
import { green } from "../output/text.ts";
import { withRun } from "../with-run.ts";

const EXITS = [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.resultRefused] as const;

function decision(spec: CommandSpec): Command {
  return define(spec)
    .argument("<run>", "id, unique prefix, or @last")
    .option("--why <TEXT>", "a reason, kept in the record");
}

/** Finds the run, decides, and says what happened; every decision command has this shape. */
async function decide(
  call: Call,
  act: (services: DecisionServices, decision: Decision) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  return withRun(call, async ({ run, history, principal }) => {
    if (!principal.ok) return principal;
    const { env } = call.context;
    const services: DecisionServices = { env, principal: principal.value, history };
    return act(services, { run, by: env.user, why: textOption(call, "why") ?? "" });
  });
}

function say(
  call: Call,
  json: Readonly<Record<string, unknown>>,
  lines: readonly string[],
): CommandEnd {
  if (call.format === "json") call.context.output.json({ version: 1, ...json });
  else
    for (const [index, line] of lines.entries())
      call.context.output.result(index === 0 ? green(line) : line);
  return ok(EXIT.done);
}

export function promoteCommand(context: Context, finish: Finish): Command {
  const command = decision({
    name: "promote",
    summary: "land a run's branch on your checkout, by fast-forward",
    description:
      "Fast-forwards the branch that the run was made for. The checkout must be clean and where the run began; blocking findings must be accepted by name. Your hooks are off meanwhile. `guardloop rollback` takes it back.",
    exits: EXITS,
    examples: [
      "guardloop promote @last",
      "guardloop promote @last --accept protected-ci --why 'looked at the workflow'",
    ],
  })
    .option("--accept <CODE[:PATH]>", "accept a blocking finding", gather)
    .option(
      "--without-validation <REASON>",
      "land it although validation failed or is missing; recorded",
    )
    .option("--with-parents", "promote the runs it builds on first, in order")
    .option("--dry-run", "check everything, change nothing");
  return action(command, { context, finish }, performPromote);
}

/** What `promote` does; also called by `review`, with the answers of a person in place of options. */
export function performPromote(call: Call): Promise<CommandEnd> {
  return decide(call, (services, request) => promoteInOrder(call, services, request));
}

/** With --with-parents the runs below are promoted first, each by the same rules; the first refusal ends it. */
async function promoteInOrder(
  call: Call,
  services: DecisionServices,
  request: Decision,
): Promise<CommandEnd> {
  const withParents = call.options.withParents === true;
  const parents = withParents ? parentsToPromote(services.history, request.run) : [];
  const rest = {
    accepted: listOption(call, "accept"),
    withoutValidation: textOption(call, "withoutValidation"),
    mode: call.options.dryRun === true ? ("dry-run" as const) : ("for-real" as const),
  };
  const chain = [...parents, request.run];
  // Nothing lands in a dry run, so only the lowest of a stack can be checked.
  const checked = rest.mode === "dry-run" ? chain.slice(0, 1) : chain;
  for (const run of checked) {
    const done = await promote(services, { ...request, ...rest, run });
    if (!done.ok) return done;
    say(
      call,
      { run: run.id, mode: rest.mode, ...done.value },
      promotionLines(run, rest.mode, done.value),
    );
  }
  if (checked.length < chain.length && call.format === "human")
    call.context.output.result(
      `Then would follow: ${chain
        .slice(1)
        .map((run) => run.task ?? run.id)
        .join(", ")}.`,
    );
  return ok(EXIT.done);
}

function promotionLines(
  { id, task }: RunRecord,
  mode: "for-real" | "dry-run",
  { before, after, branch }: Promotion,
): readonly string[] {
  const range = `${branch} ${before.slice(0, 12)} -> ${after.slice(0, 12)}`;
  if (mode === "dry-run") return [`Would promote ${task ?? id}: ${range}. Nothing was changed.`];
  return [`Promoted ${task ?? id}: ${range}.`, `Take it back with: guardloop rollback ${id}`];
}

export function rollbackCommand(context: Context, finish: Finish): Command {
  const command = decision({
    name: "rollback",
    summary: "undo a promotion",
    description:
      "Undoes exactly one promotion: goes back when nothing came after it, makes revert commits otherwise. The agent branch stays. `guardloop restore` makes the run ready again.",
    exits: EXITS,
    examples: [
      "guardloop rollback @last",
      "guardloop rollback 261129-1647 --why 'broke the build'",
    ],
  });
  return action(command, { context, finish }, (call) =>
    decide(call, async (services, request) => {
      const done = await rollback(services, request);
      if (!done.ok) return done;
      const { how, before, after } = done.value;
      const { id } = request.run;
      return say(call, { run: id, ...done.value }, [
        `Rolled back by ${how}: ${before.slice(0, 12)} -> ${after.slice(0, 12)}.`,
        `The branch ${request.run.branch ?? ""} is still there. Make the run ready again with: guardloop restore ${id}`,
      ]);
    }),
  );
}

export function discardCommand(context: Context, finish: Finish): Command {
  const command = decision({
    name: "discard",
    summary: "drop a run's branch, keeping what restore needs",
    description:
      "Removes the agent branch. Its commits stay reachable under refs/guardloop/discarded, so `guardloop restore` brings it back.",
    exits: EXITS,
    examples: ["guardloop discard @last --why 'wrong approach'"],
  });
  return action(command, { context, finish }, performDiscard);
}

/** What `discard` does; also called by `review`. */
export function performDiscard(call: Call): Promise<CommandEnd> {
  return decide(call, async (services, request) => {
    const done = await discard(services, request);
    if (!done.ok) return done;
    const { id } = request.run;
    const affected = runsOnTop(services.history, request.run).map((run) => run.id);
    const warning =
      affected.length === 0
        ? []
        : [`These runs build on it and cannot be promoted without it: ${affected.join(", ")}`];
    return say(call, { run: id, ...done.value, affected }, [
      `Discarded ${done.value.branch}.`,
      ...warning,
      `Take it back with: guardloop restore ${id}`,
    ]);
  });
}

export function restoreCommand(context: Context, finish: Finish): Command {
  const command = decision({
    name: "restore",
    summary: "take a discard back, or open a rolled-back run again",
    description:
      "Brings the agent branch back and makes the run ready, so that it can be promoted.",
    exits: EXITS,
    examples: ["guardloop restore @last"],
  });
  return action(command, { context, finish }, (call) =>
    decide(call, async (services, request) => {
      const done = await restore(services, request);
      if (!done.ok) return done;
      const { id } = request.run;
      return say(call, { run: id, ...done.value }, [
        `Restored ${done.value.branch}.`,
        `Land it with: guardloop promote ${id}`,
      ]);
    }),
  );
}
