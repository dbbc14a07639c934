import { Command, Help } from "commander";
import { COMMANDS, COMMAND_WORDS, type CommandWord, isCommand } from "./command-names.ts";
import type { Context } from "./context.ts";
import type { Finish } from "./define.ts";

export type MakeCommand = (context: Context, finish: Finish) => Command;

/** How each command is loaded; none for a program that only says which there are. */
export type Loaders = Readonly<Partial<Record<CommandWord, () => Promise<MakeCommand>>>>;

export interface ProgramOptions {
  readonly version: string;
  /** What was typed, without what stands behind two dashes. */
  readonly words: readonly string[];
  readonly finish: Finish;
  readonly loaders: Loaders;
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
  for (const word of wanted.listed) {
    const load = wanted.loaded.includes(word) ? options.loaders[word] : undefined;
    program.addCommand(
      load === undefined
        ? new Command(word).summary(COMMANDS[word].summary)
        : (await load())(context, options.finish),
    );
  }
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
