import type { Command } from "commander";
import { type SettingKey, SETTINGS } from "../../config/table.ts";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { clean } from "../../run/house/clean.ts";
import { survey } from "../../run/house/survey.ts";
import { type Context, historyOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { printHouse, printHouseJson } from "../house/print.ts";
import { houseServices } from "../house/services.ts";
import { addSettingOptions, settingFlags } from "../setting-options.ts";

/** The times that decide what may go. */
const WANTED: ReadonlySet<SettingKey> = new Set<SettingKey>([
  "retention.branch_days",
  "retention.record_days",
  "retention.setup_days",
  "retention.pool_days",
  "retention.pool_worktrees",
]);

export function gcCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "gc",
    description:
      "Lists what guardloop made and nobody needs any more, each with its size and why it may go: what runs left behind, kept snapshots whose days are over, records, branches and refs of landed or discarded runs, free worktrees of the pool, containers and images of guardloop's own, dead locks. Work that never landed is not among it, however old it is. Looks at this repository and at what belongs to none; --all at every repository. Nothing is removed without --yes.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused],
    examples: ["guardloop gc", "guardloop gc --yes", "guardloop gc --all --record-days 30"],
  })
    .option("--yes", "remove what is listed")
    .option("--all", "look at every repository that guardloop has had runs in");
  addSettingOptions(command, (key) => WANTED.has(key));
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context, options } = call;
  const opened = await historyOf(context);
  if (!opened.ok) return opened;
  using history = opened.value;
  const scope = options.all === true ? "all" : "here";
  const house = await houseServices(context, history, { scope, flags: settingFlags(call) });
  if (!house.ok) return house;
  const { services } = house.value;
  const found = await survey(services, context.interrupt, "all");
  const mode = options.yes === true ? "remove" : "dry-run";
  const done =
    mode === "remove"
      ? await clean(services, found.items, context.interrupt)
      : ok({ removed: found.items, spared: [], problems: [], left: 0 });
  if (!done.ok) return done;
  const problems = [...house.value.problems, ...found.problems];
  const keeping = {
    mode,
    survey: { ...found, problems },
    cleaning: done.value,
    command: commandFor(call),
  } as const;
  if (call.format === "json") printHouseJson(context.output, keeping);
  else printHouse(context.output, keeping);
  return ok(problems.length + done.value.problems.length > 0 ? EXIT.failed : EXIT.done);
}

/** The same call with `--yes`: with other times it would remove other things. */
function commandFor(call: Call): string {
  const flags = settingFlags(call);
  const times = SETTINGS.flatMap(({ key, flag }) => {
    const value = flags[key];
    return value === undefined ? [] : [`${flag.name} ${String(value)}`];
  });
  const all = call.options.all === true ? ["--all"] : [];
  return ["guardloop gc --yes", ...all, ...times].join(" ");
}
