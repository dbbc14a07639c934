import type { Command } from "commander";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import type { Recovery } from "../../run/afterwards/recovery.ts";
import { type Context, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { yellow } from "../output/text.ts";
import { recoverRepository } from "../recover-repository.ts";
import { addSettingOptions, settingFlags } from "../setting-options.ts";
import { settingsHere } from "../settings.ts";

export function recoverCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "recover",
    description:
      "Finds runs of this repository whose owner is gone, imports what had been collected, salvages the rest, returns leases, and removes containers and snapshots that nobody owns. An agent that still works, or ended since, is ended and its work salvaged; with --orphans adopt this command looks after it to its end instead. Works without the history, too: one that is damaged is kept aside, and runs are found by their directories. `run` does the same when it starts. Calling it twice changes nothing more.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused],
    examples: ["guardloop recover", "guardloop recover --orphans adopt"],
  });
  addSettingOptions(command, (key) => key === "recovery.containers");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const principal = await principalOf(call.context);
  if (!principal.ok) return principal;
  const settings = await settingsHere(call.context, settingFlags(call));
  if (!settings.ok) return settings;
  const { containers } = settings.value.settings.recovery;
  const recovery = await recoverRepository(call, principal.value, containers);
  if (!recovery.ok) return recovery;
  say(call, recovery.value);
  return ok(recovery.value.problems.length > 0 ? EXIT.failed : EXIT.done);
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
