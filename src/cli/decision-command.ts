import type { Command } from "commander";
import { EXIT } from "../core/failures.ts";
import { ok } from "../core/result.ts";
import type { Decision, DecisionServices } from "../run/decide/decision.ts";
import { gitProgram } from "./context.ts";
import { type Call, type CommandEnd, type CommandSpec, define, textOption } from "./define.ts";
import { green } from "./output/text.ts";
import { withRun } from "./with-run.ts";

/** Exit statuses that every decision may have. */
export const EXITS = [
  EXIT.done,
  EXIT.failed,
  EXIT.usage,
  EXIT.refused,
  EXIT.resultRefused,
] as const;

/** A command about one run that takes a reason. */
export function decision(spec: CommandSpec): Command {
  return define(spec)
    .argument("<run>", "id, unique prefix, or @last")
    .option("--why <TEXT>", "a reason, kept in the record");
}

/** Finds the run, decides, and says what happened; every decision command has this shape. */
export async function decide(
  call: Call,
  act: (services: DecisionServices, decision: Decision) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  return withRun(call, async ({ run, history, principal }) => {
    if (!principal.ok) return principal;
    const git = gitProgram(call.context);
    if (!git.ok) return git;
    const { env, now } = call.context;
    const services: DecisionServices = {
      env,
      gitProgram: git.value,
      principal: principal.value,
      history,
      now,
    };
    return act(services, { run, by: env.user, why: textOption(call, "why") ?? "" });
  });
}

/** Says what happened: one object, or lines of which the first is the news. */
export function say(
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
