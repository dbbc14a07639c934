import { Command, Help } from "commander";
import { COMMANDS, COMMAND_WORDS, type CommandWord, isCommand } from "./command-names.ts";
import type { Context } from "./context.ts";
import type { Finish } from "./define.ts";

type Make = (context: Context, finish: Finish) => Command;

/** Every command, loaded when it is wanted: starting up is most of what `runs` costs. */
const LOADERS: Readonly<Record<CommandWord, () => Promise<Make>>> = {
  init: async () => (await import("./commands/init.ts")).initCommand,
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand,
  tasks: async () => (await import("./commands/tasks.ts")).tasksCommand,
  explain: async () => (await import("./commands/explain.ts")).explainCommand,
  run: async () => (await import("./commands/run.ts")).runCommand,
  runs: async () => (await import("./commands/runs.ts")).runsCommand,
  show: async () => (await import("./commands/show.ts")).showCommand,
  logs: async () => (await import("./commands/logs.ts")).logsCommand,
  watch: async () => (await import("./commands/watch.ts")).watchCommand,
  stop: async () => (await import("./commands/stop.ts")).stopCommand,
  export: async () => (await import("./commands/export.ts")).exportCommand,
  verify: async () => (await import("./commands/verify.ts")).verifyCommand,
  review: async () => (await import("./commands/review.ts")).reviewCommand,
  compare: async () => (await import("./commands/compare.ts")).compareCommand,
  validate: async () => (await import("./commands/validate.ts")).validateCommand,
  salvage: async () => (await import("./commands/salvage.ts")).salvageCommand,
  promote: async () => (await import("./commands/promote.ts")).promoteCommand,
  discard: async () => (await import("./commands/decisions.ts")).discardCommand,
  restore: async () => (await import("./commands/decisions.ts")).restoreCommand,
  rollback: async () => (await import("./commands/rollback.ts")).rollbackCommand,
  branches: async () => (await import("./commands/branches.ts")).branchesCommand,
  recover: async () => (await import("./commands/recover.ts")).recoverCommand,
  notify: async () => (await import("./commands/notify.ts")).notifyCommand,
  gc: async () => (await import("./commands/gc.ts")).gcCommand,
  image: async () => (await import("./commands/image.ts")).imageCommand,
  selftest: async () => (await import("./commands/selftest.ts")).selftestCommand,
  config: async () => (await import("./commands/config.ts")).configCommand,
  trust: async () => (await import("./commands/trust.ts")).trustCommand,
};

export interface ProgramOptions {
  readonly version: string;
  /** What was typed, without what stands behind two dashes. */
  readonly words: readonly string[];
  readonly finish: Finish;
}

/** The command line. Errors of usage are thrown (CommanderError), not printed. */
export async function makeProgram(context: Context, options: ProgramOptions): Promise<Command> {
  const program = new Command("guardloop")
    .description("Runs coding agents unattended, without giving them the machine.")
    .version(options.version)
    .showSuggestionAfterError(true)
    .configureHelp({ subcommandTerm: termOf })
    .addHelpText(
      "after",
      "\nBegin with: guardloop init, guardloop doctor, guardloop tasks, guardloop run --help",
    );
  const wanted = wantedAmong(options.words);
  for (const word of wanted.listed)
    program.addCommand(
      wanted.loaded.includes(word)
        ? (await LOADERS[word]())(context, options.finish)
        : new Command(word).summary(COMMANDS[word].summary),
    );
  silence(program);
  return program;
}

interface Wanted {
  readonly listed: readonly CommandWord[];
  /** Of those that are listed. */
  readonly loaded: readonly CommandWord[];
}

/** The first word names the command, or asks for help or the version. Elsewhere the parser is to find the command. */
function wantedAmong(words: readonly string[]): Wanted {
  const [first = "", second = ""] = words;
  if (first === "--version" || first === "-V") return { listed: [], loaded: [] };
  if (isCommand(first)) return { listed: [first], loaded: [first] };
  if (first === "help") return { listed: COMMAND_WORDS, loaded: [second].filter(isCommand) };
  return { listed: COMMAND_WORDS, loaded: words.some(isCommand) ? COMMAND_WORDS : [] };
}

/** Of a command that is loaded it would be made out of its options and arguments. */
function termOf(command: Command): string {
  const word = command.name();
  return isCommand(word)
    ? `${word} ${COMMANDS[word].usage}`.trimEnd()
    : new Help().subcommandTerm(command);
}

/** Commander would print and exit by itself; both belong to main.ts. */
function silence(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) silence(child);
}
