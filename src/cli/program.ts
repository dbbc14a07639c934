import { Command } from "commander";
import type { Context } from "./context.ts";
import type { Finish } from "./define.ts";

type Make = (context: Context, finish: Finish) => Command;

/** Every command in the order of the help, loaded when it is wanted: starting up is most of what `runs` costs. */
const COMMANDS: ReadonlyMap<string, () => Promise<Make>> = new Map<string, () => Promise<Make>>([
  ["init", async () => (await import("./commands/init.ts")).initCommand],
  ["doctor", async () => (await import("./commands/doctor.ts")).doctorCommand],
  ["tasks", async () => (await import("./commands/tasks.ts")).tasksCommand],
  ["explain", async () => (await import("./commands/explain.ts")).explainCommand],
  ["run", async () => (await import("./commands/run.ts")).runCommand],
  ["runs", async () => (await import("./commands/runs.ts")).runsCommand],
  ["show", async () => (await import("./commands/show.ts")).showCommand],
  ["logs", async () => (await import("./commands/logs.ts")).logsCommand],
  ["watch", async () => (await import("./commands/watch.ts")).watchCommand],
  ["stop", async () => (await import("./commands/stop.ts")).stopCommand],
  ["export", async () => (await import("./commands/export.ts")).exportCommand],
  ["verify", async () => (await import("./commands/verify.ts")).verifyCommand],
  ["review", async () => (await import("./commands/review.ts")).reviewCommand],
  ["compare", async () => (await import("./commands/compare.ts")).compareCommand],
  ["validate", async () => (await import("./commands/validate.ts")).validateCommand],
  ["salvage", async () => (await import("./commands/salvage.ts")).salvageCommand],
  ["promote", async () => (await import("./commands/promote.ts")).promoteCommand],
  ["discard", async () => (await import("./commands/decisions.ts")).discardCommand],
  ["restore", async () => (await import("./commands/decisions.ts")).restoreCommand],
  ["rollback", async () => (await import("./commands/rollback.ts")).rollbackCommand],
  ["branches", async () => (await import("./commands/branches.ts")).branchesCommand],
  ["recover", async () => (await import("./commands/recover.ts")).recoverCommand],
  ["notify", async () => (await import("./commands/notify.ts")).notifyCommand],
  ["gc", async () => (await import("./commands/gc.ts")).gcCommand],
  ["image", async () => (await import("./commands/image.ts")).imageCommand],
  ["selftest", async () => (await import("./commands/selftest.ts")).selftestCommand],
  ["config", async () => (await import("./commands/config.ts")).configCommand],
  ["trust", async () => (await import("./commands/trust.ts")).trustCommand],
]);

export interface ProgramOptions {
  readonly version: string;
  /** The first argument: where it names a command, the others are not loaded. */
  readonly wanted: string | undefined;
  readonly finish: Finish;
}

/** The command line. Errors of usage are thrown (CommanderError), not printed. */
export async function makeProgram(context: Context, options: ProgramOptions): Promise<Command> {
  const program = new Command("guardloop")
    .description("Runs coding agents unattended, without giving them the machine.")
    .version(options.version)
    .showSuggestionAfterError(true)
    .addHelpText(
      "after",
      "\nBegin with: guardloop init, guardloop doctor, guardloop tasks, guardloop run --help",
    );
  for (const load of loadersFor(options.wanted))
    program.addCommand((await load())(context, options.finish));
  silence(program);
  return program;
}

function loadersFor(wanted: string | undefined): Iterable<() => Promise<Make>> {
  if (wanted === "--version" || wanted === "-V") return [];
  const one = COMMANDS.get(wanted ?? "");
  return one === undefined ? COMMANDS.values() : [one];
}

/** Commander would print and exit by itself; both belong to main.ts. */
function silence(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) silence(child);
}
