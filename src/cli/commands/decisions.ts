import type { Command } from "commander";
import { discard, restore } from "../../run/decide/discard.ts";
import { runsOnTop } from "../../run/decide/stack.ts";
import type { Context } from "../context.ts";
import { EXITS, decide, decision, say } from "../decision-command.ts";
import { type Call, type CommandEnd, type Finish, action } from "../define.ts";

export function discardCommand(context: Context, finish: Finish): Command {
  const command = decision({
    name: "discard",
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
