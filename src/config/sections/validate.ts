import { z } from "zod";
import { DAY_MINUTES, minutesUpTo } from "../minutes.ts";
import { setting } from "../setting.ts";
import { oneLine } from "../text-schemas.ts";

/** `name: command` or `name (10m): command`. */
const COMMAND = /^([A-Za-z0-9][A-Za-z0-9._-]{0,39})(?: \((\d{1,4})m\))?: (.+)$/;

const command = oneLine(4000)
  .refine((text) => COMMAND.test(text))
  .transform((text) => {
    const [, name = "", minutes, line = ""] = COMMAND.exec(text) ?? [];
    return { name, line, minutes: minutes === undefined ? undefined : Number(minutes) };
  });

export const validateCommands = setting({
  key: "validate.commands",
  guard: "GUARD_VALIDATE",
  flag: { name: "--validate", takes: "COMMAND" },
  kind: "list",
  schema: z.array(command).refine((all) => new Set(all.map((one) => one.name)).size === all.length),
  expects: "commands like `test: npm test` or `test (10m): npm test`, each with a name of its own",
  standard: [],
  description: "Commands that the result must pass, in a sealed container: `name: shell command`.",
  // They run in a container of the same posture, without network, and nothing comes back from it.
  loosening: "never",
});

export const validateMinutes = setting({
  key: "validate.minutes",
  guard: "GUARD_VALIDATE_MINUTES",
  flag: { name: "--validate-minutes", takes: "N" },
  kind: "number",
  ...minutesUpTo(DAY_MINUTES),
  standard: 15,
  description: "Minutes each validation command may take, unless it names its own.",
  loosening: { when: "above 15", test: (limit) => limit > 15 },
});
