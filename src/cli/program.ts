import { Command } from "commander";
import { configCommand } from "./commands/config.ts";
import {
  discardCommand,
  promoteCommand,
  restoreCommand,
  rollbackCommand,
} from "./commands/decisions.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { imageCommand } from "./commands/image.ts";
import { initCommand } from "./commands/init.ts";
import { logsCommand } from "./commands/logs.ts";
import { recoverCommand } from "./commands/recover.ts";
import { reviewCommand } from "./commands/review.ts";
import { runCommand } from "./commands/run.ts";
import { runsCommand } from "./commands/runs.ts";
import { showCommand } from "./commands/show.ts";
import { tasksCommand } from "./commands/tasks.ts";
import { trustCommand } from "./commands/trust.ts";
import { validateCommand } from "./commands/validate.ts";
import type { Context } from "./context.ts";
import type { Finish } from "./define.ts";

const COMMANDS = [
  initCommand,
  doctorCommand,
  tasksCommand,
  runCommand,
  runsCommand,
  showCommand,
  logsCommand,
  reviewCommand,
  validateCommand,
  promoteCommand,
  discardCommand,
  restoreCommand,
  rollbackCommand,
  recoverCommand,
  imageCommand,
  configCommand,
  trustCommand,
];

/** The whole command line. Errors of usage are thrown (CommanderError), not printed. */
export function makeProgram(context: Context, version: string, finish: Finish): Command {
  const program = new Command("guardloop")
    .description("Runs coding agents unattended, without giving them the machine.")
    .version(version)
    .showSuggestionAfterError(true)
    .addHelpText(
      "after",
      "\nBegin with: guardloop init, guardloop doctor, guardloop tasks, guardloop run --help",
    );
  for (const make of COMMANDS) program.addCommand(make(context, finish));
  silence(program);
  return program;
}

/** Commander would print and exit by itself; both belong to main.ts. */
function silence(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) silence(child);
}
