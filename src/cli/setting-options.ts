import type { Command } from "commander";
import { SETTINGS, type SettingKey } from "../config/table.ts";
import type { FlagValues } from "../config/text-layer.ts";
import { isWritten } from "../config/written.ts";
import { type Call, gather } from "./define.ts";

/**
 * Adds an option for every setting of the table, so that the command line cannot drift from the configuration.
 *
 * @param isWanted picks settings by their key, for a command that needs only some.
 */
export function addSettingOptions(
  command: Command,
  isWanted: (key: SettingKey) => boolean = () => true,
): Command {
  for (const { flag, kind, description, guard, key } of SETTINGS) {
    if (flag.name === "--" || !isWanted(key)) continue;
    const help = `${description} [${guard}]`;
    if ("sets" in flag) command.option(flag.name, help);
    else if (kind === "list" || kind === "lines")
      command.option(`${flag.name} <${flag.takes}>`, help, gather);
    else command.option(`${flag.name} <${flag.takes}>`, help);
  }
  return command;
}

/** The settings that were given on the command line. */
export function settingFlags(call: Call): FlagValues {
  const values: Record<string, FlagValues[keyof FlagValues]> = {};
  for (const { flag, key } of SETTINGS) {
    if (flag.name === "--") {
      if (call.args.length > 0) values[key] = call.args;
      continue;
    }
    const given = call.options[camelCase(flag.name)];
    if (given === undefined) continue;
    if ("sets" in flag) values[key] = flag.sets;
    else if (isWritten(given)) values[key] = given;
  }
  return values;
}

/** Commander's name for an option: `--max-tasks` becomes `maxTasks`. */
function camelCase(flag: string): string {
  return flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
