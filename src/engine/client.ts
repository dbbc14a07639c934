import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { EngineKind } from "../core/run-spec.ts";
import type { Environment, Exit } from "../process/command.ts";
import { run } from "../process/spawn.ts";

interface CallOptions {
  readonly deadlineMs?: number;
  readonly maxOutputBytes?: number;
  readonly extraEnv?: Environment;
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  /** Aborting ends the client, not the container. */
  readonly signal?: AbortSignal;
}

/** An engine's command line. Its answers are data; only a client that cannot start is a failure. */
export interface EngineClient {
  readonly kind: EngineKind;
  /** Absolute path, from `findProgram`. */
  readonly program: string;
  call(args: readonly string[], options?: CallOptions): Promise<Result<Exit, Failure>>;
}

/** Names for sentences. */
export const ENGINE_NAMES = { docker: "Docker", podman: "Podman" } as const;

export function engineClient(
  kind: EngineKind,
  program: string,
  env: HostEnvironment,
): EngineClient {
  const environment = { PATH: env.path, HOME: env.home, LC_ALL: "C.UTF-8", ...env[kind] };
  return {
    kind,
    program,
    async call(args, options = {}) {
      const exit = await run({
        argv: [program, ...args],
        cwd: "/",
        env: { ...environment, ...options.extraEnv },
        deadlineMs: options.deadlineMs ?? DEADLINES.engineQuickMs,
        maxOutputBytes: options.maxOutputBytes ?? 4 * 1024 * 1024,
        ...(options.onOutput === undefined ? {} : { onOutput: options.onOutput }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      if (!exit.ok)
        return err(
          failure("engine-unavailable", `${program} could not be started (${exit.error.reason}).`),
        );
      return ok(exit.value);
    },
  };
}

const NO_ANSWER =
  /cannot connect|is the docker daemon running|permission denied|connection refused/i;
/** Podman has no server of its own: what looks like a refused connection is about the container. */
const NO_ANSWER_FROM: Readonly<Record<EngineKind, RegExp>> = {
  docker: NO_ANSWER,
  podman: /cannot connect to podman|unable to connect to podman/i,
};

/** What to do about an engine that does not answer. */
export function answerCure(kind: EngineKind, said: "nothing" | { readonly text: string }): string {
  if (kind === "podman")
    return "Run `podman info`, mend what it complains about, then run `guardloop doctor`.";
  if (said === "nothing")
    return "Restart Docker (for example `systemctl restart docker`), then run `guardloop doctor`.";
  return /permission denied/i.test(said.text)
    ? "Add your user to the group `docker` (then log in again), or run as a user who may use Docker."
    : "Start Docker (for example `systemctl start docker`), then run `guardloop doctor`.";
}

/** One sentence about a call that the engine refused. */
export function engineFailure(kind: EngineKind, what: string, exit: Exit): Failure {
  const name = ENGINE_NAMES[kind];
  const said = exit.stderr.toString("utf8").trim();
  const lines = said.split("\n");
  if (exit.ended !== "by-itself")
    return failure("engine-unavailable", `${name} did not answer in time when asked to ${what}.`, {
      cure: answerCure(kind, "nothing"),
    });
  if (NO_ANSWER_FROM[kind].test(said))
    return failure("engine-unavailable", `${name} does not answer: ${lines[0] ?? ""}`, {
      cure: answerCure(kind, { text: said }),
    });
  const details = lines.slice(-12);
  // Newer clients end with a line about their help, which is none.
  const telling = lines.filter(
    (line) => line.trim() !== "" && !/^(?:Run|See) '.*--help'/.test(line),
  );
  if (exit.signal !== null)
    return failure(
      "container-failed",
      `${name}'s client was ended by ${exit.signal} when asked to ${what}.`,
      { details },
    );
  return failure("container-failed", `${name} could not ${what}: ${telling.at(-1) ?? ""}`, {
    details,
  });
}

/** Undefined for what is not JSON. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
