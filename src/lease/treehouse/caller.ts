import { devNull } from "node:os";
import type { HostEnvironment } from "../../core/environment.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Environment, Exit } from "../../process/command.ts";
import { run } from "../../process/spawn.ts";

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** For the git that treehouse starts: nothing in the repository may start a program of its own choice. */
const GIT_SETTINGS: ReadonlyArray<readonly [string, string]> = [
  ["core.hooksPath", devNull],
  ["core.fsmonitor", "false"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/** Runs treehouse in the principal checkout (its directory decides the pool) with a built environment. */
export interface TreehouseCaller {
  /** A non-zero exit and a passed deadline are data; the only failure is `tool-missing`. */
  readonly call: (args: readonly string[]) => Promise<Result<Exit, Failure>>;
}

export interface CallerOptions {
  /** Absolute path of treehouse, from `findProgram`. */
  readonly program: string;
  readonly env: HostEnvironment;
  /** Top of the principal checkout. */
  readonly cwd: string;
  /** treehouse waits for its lock without limit, so every call has one. Default `DEADLINES.treehouseMs`. */
  readonly deadlineMs?: number;
}

export function treehouseCaller(options: CallerOptions): TreehouseCaller {
  const env = treehouseEnvironment(options.env);
  return {
    async call(args) {
      const result = await run({
        argv: [options.program, ...args],
        cwd: options.cwd,
        env,
        deadlineMs: options.deadlineMs ?? DEADLINES.treehouseMs,
        maxOutputBytes: MAX_OUTPUT_BYTES,
      });
      if (result.ok) return ok(result.value);
      return fail(
        "tool-missing",
        `treehouse (${options.program}) could not be started: ${result.error.reason}.`,
        { cure: "Install treehouse 2.2 or newer but below 4, or pass --lease builtin." },
      );
    },
  };
}

/** Only what is named here; TREEHOUSE_ROOT, TREEHOUSE_DIR or a GIT_DIR of the caller would lead it elsewhere. */
function treehouseEnvironment(env: HostEnvironment): Environment {
  const settings = GIT_SETTINGS.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...env.git,
    PATH: env.path,
    HOME: env.home,
    LC_ALL: "C",
    TREEHOUSE_NO_UPDATE_CHECK: "1",
    TREEHOUSE_VCS: "git",
    GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
    ...Object.fromEntries(settings),
  };
}
