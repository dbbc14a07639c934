import { resolve } from "node:path";
import { CommanderError } from "commander";
import { hostEnvironment } from "../config/environment.ts";
import { EXIT, type ExitStatus, exitStatusOf } from "../core/failures.ts";
import { failure } from "../core/failures.ts";
import { err } from "../core/result.ts";
import { endLivingChildren } from "../process/spawn.ts";
import { STOP_SIGNAL } from "../run/stop-request.ts";
import { isCommand } from "./command-names.ts";
import { type Context, findRepositoryMeanwhile, packageVersion } from "./context.ts";
import type { CommandEnd, Format } from "./define.ts";
import { printFailure } from "./output/failure.ts";
import { keyboardOf } from "./output/keyboard.ts";
import { type Output, makeOutput } from "./output/output.ts";
import { type Loaders, makeProgram } from "./program.ts";

/** Runs the command line. The only place that sets the process's exit status. */
export async function begin(loaders: Loaders): Promise<void> {
  process.once("beforeExit", onEarlyEnd);
  process.exitCode = await main(loaders);
  process.off("beforeExit", onEarlyEnd);
}

/** Nothing is left that the process could wait for, and it was not done. */
function onEarlyEnd(): void {
  process.exitCode = EXIT.failed;
}

async function main(loaders: Loaders): Promise<ExitStatus> {
  // What we make for containers must be readable by the uid they run as; our own directories are 0700.
  process.umask(0o022);
  const env = hostEnvironment();
  const output = makeOutput({
    stdout: process.stdout,
    stderr: process.stderr,
    noColor: env.noColor,
  });
  const cwd = workingDirectory();
  if (cwd === undefined) {
    printFailure(output, GONE, { format: "human" });
    return exitStatusOf(GONE.code);
  }
  // From dist/bundle/, where this file is a part of the bundle.
  const packageRoot = `${resolve(import.meta.dirname, "../..")}/`;
  const context: Context = {
    env,
    cwd,
    afterDashes: afterDashes(process.argv),
    output,
    now: () => new Date(),
    interrupt: interruptSignal(output),
    packageRoot,
    keyboard: keyboardOf(process.stdin),
    interactive: process.stdin.isTTY && process.stderr.isTTY,
  };
  if (beginsInRepository(ours(context))) findRepositoryMeanwhile(context);
  let end: CommandEnd = { ok: true, value: EXIT.done };
  let format: Format = "human";
  const program = await makeProgram(context, {
    version: packageVersion(packageRoot),
    words: ours(context),
    loaders,
    finish: (ended, as) => {
      end = ended;
      format = as;
    },
  });
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) {
      endLivingChildren();
      return EXIT.done;
    }
    format = ours(context).includes("--json") ? "json" : "human";
    end = usageFailure(error);
  }
  // A look at a container that hangs, for example, would keep a finished command from ending.
  endLivingChildren();
  if (end.ok) return end.value;
  printFailure(output, end.error, { format });
  return exitStatusOf(end.error.code);
}

const GONE = failure("usage", "The directory that guardloop was called in is not there any more.", {
  cure: "Change to one that is.",
});

function workingDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/** Every command asks about the repository that it is called in; who asks for help does not wait for that. */
function beginsInRepository(words: readonly string[]): boolean {
  return isCommand(words[0] ?? "") && !words.some((word) => word === "--help" || word === "-h");
}

/** What stands behind two dashes is the agent's. */
function ours({ afterDashes: agents }: Context): readonly string[] {
  return process.argv.slice(2, process.argv.length - agents.length);
}

function afterDashes(argv: readonly string[]): readonly string[] {
  const dashes = argv.indexOf("--");
  return dashes === -1 ? [] : argv.slice(dashes + 1);
}

/** Commander's sentence, and what to type instead. */
function usageFailure(error: CommanderError): CommandEnd {
  const command = process.argv[2];
  const known =
    command !== undefined && /^[a-z]+$/.test(command) && error.code !== "commander.unknownCommand";
  const message = error.message.replace(/^error: /, "").replaceAll("\n", " ");
  const nothing = error.code === "commander.help";
  return err(
    failure("usage", nothing ? "No command was given." : message.replace(/\.?$/, "."), {
      cure: `Type \`guardloop ${known ? `${command} ` : ""}--help\`.`,
    }),
  );
}

/** Ctrl-C or SIGTERM once ends a run in order; twice ends the process at once. `guardloop stop` only ever does the first. */
function interruptSignal(output: Output): AbortSignal {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) {
      output.progress("guardloop: ended at once; `guardloop recover` cleans up.");
      endLivingChildren();
      // oxlint-disable-next-line unicorn/no-process-exit
      process.exit(EXIT.interrupted);
    }
    output.progress("guardloop: ending in order; press Ctrl-C again to end at once.");
    controller.abort();
  };
  const onStop = (): void => {
    if (controller.signal.aborted) return;
    output.progress("guardloop: told to stop by `guardloop stop`; ending in order.");
    controller.abort();
  };
  process.on("SIGINT", onSignal);
  process.on(STOP_SIGNAL, onStop);
  process.on("SIGTERM", onSignal);
  // A closed pipe (`guardloop logs … | head`) is not an error of ours.
  process.stdout.on("error", () => undefined);
  return controller.signal;
}
