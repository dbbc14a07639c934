import { readFileSync } from "node:fs";
import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import { type FoundRepository, type Principal, findRepository } from "../git/principal.ts";
import type { History } from "../history/port.ts";
import { findProgram } from "../process/find-program.ts";
import type { Keyboard } from "./output/keyboard.ts";
import type { Output } from "./output/output.ts";

/** What every command is handed. */
export interface Context {
  readonly env: HostEnvironment;
  readonly cwd: string;
  /** What was typed behind two dashes; commander does not tell it from other arguments. */
  readonly afterDashes: readonly string[];
  readonly output: Output;
  readonly now: () => Date;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly interrupt: AbortSignal;
  /** Root of the installed package: image/ and dist/ lie below it. */
  readonly packageRoot: string;
  /** True when a person can be asked. */
  readonly interactive: boolean;
  /** Undefined where standard input is not a terminal. */
  readonly keyboard: Keyboard | undefined;
}

export function gitProgram(context: Context): Result<string, Failure> {
  const program = findProgram("git", context.env.path);
  if (program !== undefined) return ok(program);
  return fail("tool-missing", "git is not on PATH.", { cure: "Install Git 2.39 or newer." });
}

/** What was found out about the repository of a context, or is being found out. */
const FOUND = new WeakMap<Context, Promise<Result<FoundRepository, Failure>>>();

/**
 * The repository that the command was called in. Git is asked once; where its HEAD was then is enough for a command that
 * begins there, and not for one that changes something where it is.
 */
export function repositoryOf(context: Context): Promise<Result<FoundRepository, Failure>> {
  const known = FOUND.get(context);
  if (known !== undefined) return known;
  const git = gitProgram(context);
  const found = git.ok ? findRepository(git.value, context.env, context.cwd) : Promise.resolve(git);
  FOUND.set(context, found);
  return found;
}

export async function principalOf(context: Context): Promise<Result<Principal, Failure>> {
  const found = await repositoryOf(context);
  return found.ok ? ok(found.value.principal) : found;
}

/** Asks Git while the command is being loaded; what came of it is for `repositoryOf` to say. */
export function findRepositoryMeanwhile(context: Context): void {
  repositoryOf(context).catch(() => undefined);
}

/** Loads the database library while something else is waited for; whether it can be loaded is for `historyOf` to say. */
export function loadHistoryMeanwhile(): void {
  import("../history/sqlite.ts").catch(() => undefined);
}

/** Opens the history; the database library is loaded only by commands that need it. */
export async function historyOf(context: Context): Promise<Result<History, Failure>> {
  const { openHistory } = await import("../history/sqlite.ts");
  try {
    await ensurePrivateDirectory(context.env.stateDir);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail(
      "state-unusable",
      `The state directory ${context.env.stateDir} cannot be used: ${why}`,
      {
        cure: "Check its permissions, or set XDG_STATE_HOME to another directory.",
      },
    );
  }
  return openHistory(context.env.stateDir, context.now);
}

/** The version of the installed package. */
export function packageVersion(packageRoot: string): string {
  const text = readFileSync(`${packageRoot}package.json`, "utf8");
  // Our own package file.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (JSON.parse(text) as { version: string }).version;
}
