import type { Command } from "commander";
import { readRef } from "../../git/publish.ts";
import { rolledBackRef } from "../../run/decide/decision.ts";
import { rollback } from "../../run/decide/rollback.ts";
import type { Context } from "../context.ts";
import { EXITS, decide, decision, say } from "../decision-command.ts";
import { type Finish, action } from "../define.ts";

export function rollbackCommand(context: Context, finish: Finish): Command {
  const command = decision({
    name: "rollback",
    description:
      "Undoes exactly one promotion by going back to where the branch was, and refuses where that would lose what came after; --revert keeps that and undoes the promotion by revert commits. The agent branch stays. `guardloop restore` makes the run ready again.",
    exits: EXITS,
    examples: [
      "guardloop rollback @last",
      "guardloop rollback 261129-1647 --revert --why 'broke the build'",
    ],
  }).option("--revert", "make revert commits instead of going back");
  return action(command, { context, finish }, (call) =>
    decide(call, async (services, request) => {
      const wanted = call.options.revert === true ? "revert" : "reset";
      const done = await rollback(services, { ...request, how: wanted });
      if (!done.ok) return done;
      const { how, before, after } = done.value;
      const { id, branch } = request.run;
      const what =
        before === after
          ? `Nothing was left to undo at ${after.slice(0, 12)}: only the record is put right.`
          : `Rolled back by ${how}: ${before.slice(0, 12)} -> ${after.slice(0, 12)}.`;
      const { git } = services.principal;
      const there = await readRef(git, `refs/heads/${branch ?? ""}`);
      const landed = request.run.promotion?.after ?? "";
      const kept =
        there === undefined
          ? `The agent branch is gone; what had landed is kept as ${rolledBackRef(id, landed)}.`
          : `The branch ${branch ?? ""} is still there. Make the run ready again with: guardloop restore ${id}`;
      return say(call, { run: id, ...done.value }, [what, kept]);
    }),
  );
}
