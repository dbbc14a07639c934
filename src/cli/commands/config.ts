import type { Command } from "commander";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { show } from "../../config/written.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { bold, dim, yellow } from "../output/text.ts";
import { addSettingOptions, settingFlags } from "../setting-options.ts";
import { settingsHere } from "../settings.ts";

export function configCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "config",
    description:
      "Precedence: flag, environment (GUARD_…), your own file, the repository's guardloop.toml as committed, default. Values of the repository's file that loosen the boundary count only after `guardloop trust`.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop config", "guardloop config --json", "GUARD_MEMORY=8g guardloop config"],
  });
  addSettingOptions(command);
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const resolved = await settingsHere(context, settingFlags(call));
  if (!resolved.ok) return resolved;
  const { origins, notices } = resolved.value;
  if (call.format === "json") {
    context.output.json({ version: 1, settings: origins, notices });
    return ok(EXIT.done);
  }
  context.output.table(
    origins.map(({ key, value, origin, where }) => [
      bold(key),
      value === "" ? dim("(not set)") : show(value),
      where === null ? dim(origin) : `${origin}, ${where}`,
    ]),
  );
  for (const text of notices) context.output.progress(yellow("note: "), text);
  return ok(EXIT.done);
}
