import type { Command } from "commander";
import { EXIT, fail } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { whileBusy } from "../../run/afterwards/busy.ts";
import { runPaths } from "../../run/paths.ts";
import { salvageRun } from "../../run/afterwards/salvage-import.ts";
import { readSpec } from "../../run/stages/spec.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define, textOption } from "../define.ts";
import { humanProgress } from "../output/progress.ts";
import { refuseRemovedRecord } from "../output/record-removed.ts";
import { green } from "../output/text.ts";
import { servicesFor } from "../run-services.ts";
import { withRun } from "../with-run.ts";

export function salvageCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "salvage",
    description:
      "Takes the patches that the run's record holds, with the task id or message that the agent did not leave given here, and imports them with all the usual checks. The run is then ready: review it, it was never finished by the agent.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.resultRefused],
    examples: [
      "guardloop salvage @last",
      "guardloop salvage @last --task T1 --message 'Half of the tax rule'",
    ],
  })
    .argument("<run>", "id, unique prefix, or @last")
    .option("--task <ID>", "the task the work belongs to, where the agent did not say")
    .option("--message <TEXT>", "the commit message, where the agent left none");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  return withRun(call, async ({ run, history, principal }) => {
    if (!principal.ok) return principal;
    if (run.state !== "failed" && run.state !== "interrupted")
      return fail(
        "not-in-this-state",
        `Run ${run.id} is ${run.state}; only a failed or interrupted run can be salvaged.`,
        {
          cure: `See \`guardloop show ${run.id}\`.`,
        },
      );
    const there = refuseRemovedRecord(run);
    if (!there.ok) return there;
    const { output, env } = call.context;
    const spec = await readSpec(runPaths(env.stateDir, run.id));
    if (!spec.ok) return spec;
    const report = call.format === "json" ? () => undefined : humanProgress(output);
    const at = { run, history, principal: principal.value };
    const services = await servicesFor(call, at, { spec: spec.value, report });
    if (!services.ok) return services;
    const byHand = { taskId: textOption(call, "task"), message: textOption(call, "message") };
    const done = await whileBusy(services.value, run.id, () =>
      salvageRun(services.value, { run, spec: spec.value, byHand }),
    );
    if (!done.ok) return done;
    if (call.format === "json") output.json({ version: 1, run: run.id, imported: done.value });
    else {
      output.result(green(`Salvaged onto ${done.value.branch}.`));
      output.result("Look at it:  guardloop review ", run.id);
    }
    return ok(EXIT.done);
  });
}
