import type { HostEnvironment } from "../../core/environment.ts";
import { type Failure, failure } from "../../core/failures.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Environment, Exit } from "../../process/command.ts";
import { run } from "../../process/spawn.ts";

export interface CallOptions {
  readonly deadlineMs?: number;
  readonly maxOutputBytes?: number;
  readonly extraEnv?: Environment;
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
}

/** Calls the docker command line. The server's answers are data; only a client that cannot start is a failure. */
export type DockerClient = (
  args: readonly string[],
  options?: CallOptions,
) => Promise<Result<Exit, Failure>>;

/** @param program absolute path of the docker client, from `findProgram`. */
export function dockerClient(program: string, env: HostEnvironment): DockerClient {
  const environment = { PATH: env.path, HOME: env.home, LC_ALL: "C.UTF-8", ...env.docker };
  return async (args, options = {}) => {
    const exit = await run({
      argv: [program, ...args],
      cwd: "/",
      env: { ...environment, ...options.extraEnv },
      deadlineMs: options.deadlineMs ?? DEADLINES.engineQuickMs,
      maxOutputBytes: options.maxOutputBytes ?? 4 * 1024 * 1024,
      ...(options.onOutput === undefined ? {} : { onOutput: options.onOutput }),
    });
    if (!exit.ok)
      return err(
        failure("engine-unavailable", `${program} could not be started (${exit.error.reason}).`),
      );
    return ok(exit.value);
  };
}

/** One sentence about a call that the engine refused. */
export function engineFailure(what: string, exit: Exit): Failure {
  const said = exit.stderr.toString("utf8").trim();
  const lines = said.split("\n");
  if (exit.ended === "deadline")
    return failure("engine-unavailable", `Docker did not answer in time when asked to ${what}.`);
  if (
    /cannot connect|is the docker daemon running|permission denied|connection refused/i.test(said)
  )
    return failure("engine-unavailable", `Docker does not answer: ${lines[0] ?? ""}`, {
      cure: /permission denied/i.test(said)
        ? "Add your user to the group `docker` (then log in again), or run as a user who may use Docker."
        : "Start Docker (for example `systemctl start docker`), then run `guardloop doctor`.",
    });
  if (exit.signal !== null)
    return failure(
      "container-failed",
      `Docker's client was ended by ${exit.signal} when asked to ${what}.`,
      {
        details: lines.slice(-12),
      },
    );
  return failure("container-failed", `Docker could not ${what}: ${lines.at(-1) ?? ""}`, {
    details: lines.slice(-12),
  });
}
