import { Command } from "commander";
import type { Failure } from "../core/failures.ts";
import { EXIT, type ExitStatus } from "../core/failures.ts";
import { hostFault } from "../core/host-fault.ts";
import { type Result, err } from "../core/result.ts";
import { JournalFault } from "../run/drive.ts";
import { COMMANDS, isCommand } from "./command-names.ts";
import type { Context } from "./context.ts";

export type Format = "human" | "json";

/** How a command ended: an exit status, or a failure whose code gives one. */
export type CommandEnd = Result<ExitStatus, Failure>;

/** Receives the end of the one command that ran; only main.ts turns it into the process's exit status. */
export type Finish = (end: CommandEnd, format: Format) => void;

const EXIT_MEANINGS: Readonly<Record<ExitStatus, string>> = {
  [EXIT.done]: "done",
  [EXIT.failed]: "the run failed, or something went wrong on the way",
  [EXIT.usage]: "the command line or the configuration is wrong; nothing was done",
  [EXIT.refused]: "refused before anything was changed",
  [EXIT.resultRefused]: "what the agent left was refused (artifacts, import, policy)",
  [EXIT.interrupted]: "interrupted",
};

export interface CommandSpec {
  readonly name: string;
  /** Of a command below another one; the others have theirs in COMMANDS. */
  readonly summary?: string;
  /** More than the summary: what it touches and what it leaves. */
  readonly description: string;
  readonly exits: readonly ExitStatus[];
  readonly examples: readonly string[];
}

/** A command with what each has: `--json`, and help that documents exit codes and examples. */
export function define(spec: CommandSpec): Command {
  const exits = spec.exits.map(
    (status) => `  ${String(status).padEnd(4)} ${EXIT_MEANINGS[status]}`,
  );
  const examples = spec.examples.map((example) => `  ${example}`);
  return new Command(spec.name)
    .summary(spec.summary ?? (isCommand(spec.name) ? COMMANDS[spec.name].summary : ""))
    .description(spec.description)
    .option("--json", "print JSON instead of text (see docs/json.md)")
    .addHelpText("after", ["", "Exit codes:", ...exits, "", "Examples:", ...examples].join("\n"));
}

export interface Call {
  readonly context: Context;
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly format: Format;
}

/** Connects a command to what it does. */
export function action(
  command: Command,
  { context, finish }: { readonly context: Context; readonly finish: Finish },
  perform: (call: Call) => Promise<CommandEnd>,
): Command {
  return command.action(async () => {
    const options = command.opts<Record<string, unknown>>();
    const format = options.json === true ? "json" : "human";
    const call = { context, args: command.args, options, format } as const;
    finish(await asFailure(() => perform(call)), format);
  });
}

/** What the machine refuses is said like any other failure; what is thrown besides is a mistake of ours. */
async function asFailure(perform: () => Promise<CommandEnd>): Promise<CommandEnd> {
  try {
    return await perform();
  } catch (error) {
    const fault = error instanceof JournalFault ? error.failure : hostFault(error);
    if (fault === undefined) throw error;
    return err(fault);
  }
}

/** The value of an option as text; undefined when it was not given. */
export function textOption(call: Call, name: string): string | undefined {
  const value = call.options[name];
  return typeof value === "string" ? value : undefined;
}

/** The values of an option that may be given several times. */
export function listOption(call: Call, name: string): readonly string[] {
  const value = call.options[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** For commander's option parser: gathers repeated options. */
export function gather(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
