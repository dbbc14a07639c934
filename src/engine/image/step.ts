import { delimiter, dirname } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { HostEnvironment } from "../../core/environment.ts";
import { type Failure, failure } from "../../core/failures.ts";
import { type Result, err } from "../../core/result.ts";
import type { Environment, Exit } from "../../process/command.ts";
import { run } from "../../process/spawn.ts";

/** Lines of a failed program's output that are shown with the failure. */
const SHOWN_LINES = 15;
/** Enough for the whole output of every step; a step's last lines explain its failure. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Debian keeps programs for root here, and su or a service may leave these off PATH. */
const ROOT_DIRECTORIES = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
/** How the programs that download reach the outside; taken over where set. */
const NETWORK_NAMES =
  "http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS npm_config_registry".split(
    " ",
  );

interface Step {
  /** Absolute path, from `findProgram`. */
  readonly program: string;
  readonly args: readonly string[];
  readonly deadlineMs: number;
  readonly env?: Environment;
  /** The program is ended when nothing came on standard output within this time; see `Exit.ended`. */
  readonly firstOutputMs?: number;
  /** What on standard error counts as output too, for a program that says everything there. */
  readonly firstOutput?: RegExp;
  /** `kept`: a look-up, whose output is no detail of the build. Default `shown`. */
  readonly output?: "shown" | "kept";
}

/** Starts programs for the image build: one built environment, one working directory, one way to fail. */
export interface Stepper {
  /** PATH of the programs, for `findProgram`. */
  readonly path: string;
  /** Names of the proxy variables that are set. */
  readonly proxyNames: readonly string[];
  /** Runs a program; any exit code is fine. Fails when it cannot be started, or runs into its deadline. */
  attempt(step: Step): Promise<Result<Exit, Failure>>;
  /** Like `attempt`, and fails on an exit code other than 0; `what` begins the sentence. */
  must(what: string, step: Step): Promise<Result<Exit, Failure>>;
}

export interface StepperOptions {
  readonly env: HostEnvironment;
  readonly workDir: string;
  readonly onDetail: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

export function stepper(options: StepperOptions): Stepper {
  const path = [options.env.path, dirname(process.execPath), ...ROOT_DIRECTORIES].join(delimiter);
  const network = networkOf(options.env);
  const base = {
    PATH: path,
    HOME: options.env.home,
    LC_ALL: "C.UTF-8",
    TMPDIR: options.workDir,
    ...network,
    ...options.env.docker,
    ...options.env.podman,
  };
  const attempt = async (step: Step): Promise<Result<Exit, Failure>> => {
    const silence = silenceAfter(step.firstOutputMs);
    const signals = [silence.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const exit = await run({
      argv: [step.program, ...step.args],
      cwd: options.workDir,
      env: { ...base, ...step.env },
      deadlineMs: step.deadlineMs,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      signal: AbortSignal.any(signals),
      onOutput: (stream, chunk) => {
        if (stream === "stdout" || step.firstOutput?.test(chunk.toString("utf8")) === true)
          silence.clear();
        if (step.output !== "kept") eachLine(chunk, options.onDetail);
      },
    });
    silence.clear();
    if (!exit.ok) {
      return err(buildFailure(`${step.program} could not be started (${exit.error.reason}).`));
    }
    const unfinished = whyUnfinished(exit.value, step, options.signal);
    return unfinished === undefined ? exit : err(unfinished);
  };
  const must = async (what: string, step: Step): Promise<Result<Exit, Failure>> => {
    const exit = await attempt(step);
    if (!exit.ok || exit.value.code === 0) return exit;
    const code = exit.value.code ?? exit.value.signal;
    return err(buildFailure(`${what} failed (exit ${code}).`, lastLines(exit.value)));
  };
  const proxyNames = Object.keys(network).filter((name) => /_proxy$/i.test(name));
  return { path, proxyNames, attempt, must };
}

/** The failure of an image that could not be built; `details` are the failed program's last lines. */
export function buildFailure(message: string, details: readonly string[] = []): Failure {
  return failure("image-build-failed", `The agent image was not built: ${message}`, {
    cure: "Correct what the message names, then run `guardloop image build` again.",
    details,
  });
}

function silenceAfter(limitMs: number | undefined) {
  const controller = new AbortController();
  const timer = limitMs === undefined ? undefined : setTimeout(() => controller.abort(), limitMs);
  return { signal: controller.signal, clear: (): void => clearTimeout(timer) };
}

function whyUnfinished(
  exit: Exit,
  step: Step,
  signal: AbortSignal | undefined,
): Failure | undefined {
  if (exit.ended === "aborted" && signal?.aborted === true) {
    return failure("interrupted", "The image build was interrupted.", {
      cure: "Run `guardloop image build` again.",
    });
  }
  if (exit.ended !== "deadline") return undefined;
  const minutes = Math.ceil(step.deadlineMs / 60_000);
  return buildFailure(`${step.program} did not end within ${minutes} minutes.`, lastLines(exit));
}

function networkOf(env: HostEnvironment): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of NETWORK_NAMES) {
    const value = env.read(name);
    if (value !== undefined && value !== "") found[name] = value;
  }
  return found;
}

function lastLines(exit: Exit): readonly string[] {
  const lines = linesOf(`${exit.stdout.toString("utf8")}\n${exit.stderr.toString("utf8")}`);
  return lines.slice(-SHOWN_LINES);
}

function eachLine(chunk: Buffer, onLine: (line: string) => void): void {
  for (const line of linesOf(chunk.toString("utf8"))) onLine(line);
}

function linesOf(text: string): readonly string[] {
  // Programs colour their output even into a pipe, docker build for one.
  const plain = stripVTControlCharacters(text);
  return plain.split(/[\r\n]+/).filter((line) => line.trim() !== "");
}
