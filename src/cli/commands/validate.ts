import type { Command } from "commander";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { Validation } from "../../core/run-spec.ts";
import type { Principal } from "../../git/principal.ts";
import type { History } from "../../history/port.ts";
import { runPaths } from "../../run/paths.ts";
import { readImportReport } from "../../run/stages/import.ts";
import { readSpec } from "../../run/stages/spec.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { refuseRemovedRecord } from "../output/record-removed.ts";
import { printValidation } from "../output/validation.ts";
import { validateTree } from "../validate-tree.ts";
import { withRun } from "../with-run.ts";

export function validateCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "validate",
    description:
      "Takes the commands of [validate] from the last commit of your checkout, never from the agent's branch, and runs them on exactly the imported tree in fresh sealed containers without network. `run` does this by itself when commands are configured.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.resultRefused],
    examples: ["guardloop validate @last"],
  }).argument("<run>", "id, unique prefix, or @last");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  return withRun(call, async ({ run, history, principal }) => {
    if (!principal.ok) return principal;
    const there = refuseRemovedRecord(run);
    if (!there.ok) return there;
    const done = await validateAgain(call, { run, history, principal: principal.value });
    if (!done.ok) return done;
    history.append(run.id, { type: "validated", validation: done.value });
    if (call.format === "json")
      call.context.output.json({ version: 1, run: run.id, validation: done.value });
    else printValidation(call.context.output, done.value);
    return ok(done.value.verdict === "passed" ? EXIT.done : EXIT.resultRefused);
  });
}

interface At {
  readonly run: RunRecord;
  readonly history: History;
  readonly principal: Principal;
}

async function validateAgain(call: Call, at: At): Promise<Result<Validation, Failure>> {
  const { context } = call;
  const paths = runPaths(context.env.stateDir, at.run.id);
  const report = await readImportReport(paths);
  const spec = await readSpec(paths);
  if (report === undefined || !spec.ok || at.run.state === "running")
    return fail(
      "not-in-this-state",
      `Run ${at.run.id} is ${at.run.state} and has no imported result.`,
      {
        cure: `See \`guardloop show ${at.run.id}\`.`,
      },
    );
  const target = { spec: spec.value, head: report.head, tree: report.tree };
  const done = await validateTree(call, at, {
    ...target,
    otherwise: [],
    announce: () => undefined,
  });
  if (!done.ok) return done;
  if (done.value !== null) return ok(done.value);
  return fail("config-invalid", "No validation commands are configured.", {
    cure: "Set validate.commands in guardloop.toml and commit it.",
  });
}
