import { type Failure, failure } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { Exit } from "../process/command.ts";
import { ENGINE_NAMES, type EngineClient, engineFailure } from "./client.ts";
import { inspectImage } from "./inspect-image.ts";
import type { ContainerEnd, ContainerSpec, Engine, EngineFacts } from "./port.ts";
import { runArguments } from "./posture.ts";
import { type PrintedStats, containerStats } from "./stats.ts";

/** Statuses with which the client says that the container itself never ran; see docker-run(1) and podman-run(1). */
const CLIENT_STATUSES: ReadonlySet<number> = new Set([125, 126, 127]);
/** The client's own deadline lies far beyond the run's clocks, which end the container, not the client. */
const CLIENT_DEADLINE_MS = 7 * 24 * 60 * 60_000;
/**
 * From the order to kill a container to the end of a client that still waits for it: an engine that hangs, or that has
 * forgotten the container in a restart, would keep the run for ever.
 */
const CLIENT_GRACE_MS = 60_000;
/** Kept of the client's output for messages; the whole stream goes to the sink. */
const KEPT_BYTES = 64 * 1024;

export interface Listed {
  readonly name: string;
  readonly runId: string;
}

/** What two command lines of the same descent say differently. */
export interface Words {
  /** A filter for exactly this name. */
  readonly nameFilter: (name: string) => string;
  /** Kills and removes at once. */
  readonly remove: readonly string[];
  /** What the client says of a container that is not there, or not any more. */
  readonly absent: RegExp;
  readonly listFormat: string;
  /** Undefined when the list cannot be read. */
  readonly readList: (stdout: Buffer) => readonly Listed[] | undefined;
  /** Arguments of `events`, besides times and container, that show the memory limit being hit. */
  readonly memoryEvents: readonly string[];
  readonly showMemoryLimit: (stdout: Buffer) => boolean;
  /** Arguments that ask once what a container uses, before its name. */
  readonly stats: readonly string[];
  /** Undefined when the answer cannot be read. */
  readonly readStats: (stdout: Buffer) => PrintedStats | undefined;
}

export interface CommandLineOptions {
  readonly client: EngineClient;
  readonly words: Words;
  readonly now: () => Date;
  readonly probe: () => Promise<Result<EngineFacts, Failure>>;
}

/** An engine behind the port, through its command line. */
export function commandLineEngine(options: CommandLineOptions): Engine {
  const { client, words, now, probe } = options;
  const { kind } = client;
  const waiting = new Map<string, AbortController>();
  const refused = (what: string, exit: Exit) => midRun(err(engineFailure(kind, what, exit)));
  const absentIsFine = (
    exit: Awaited<ReturnType<EngineClient["call"]>>,
    what: string,
  ): Result<void, Failure> => {
    if (!exit.ok) return midRun(exit);
    if (exit.value.code === 0) return ok(undefined);
    if (words.absent.test(exit.value.stderr.toString("utf8"))) return ok(undefined);
    return refused(what, exit.value);
  };
  return {
    kind,
    name: ENGINE_NAMES[kind],
    probe,
    image: (name) => inspectImage(client, name),
    argv: (spec) => [client.program, ...runArguments(kind, spec)],
    async run(spec, sink, environment) {
      const since = now();
      const giveUp = new AbortController();
      waiting.set(spec.name, giveUp);
      const exit = await client.call(runArguments(kind, spec), {
        deadlineMs: CLIENT_DEADLINE_MS,
        maxOutputBytes: KEPT_BYTES,
        extraEnv: environment,
        onOutput: sink.onOutput,
        signal: giveUp.signal,
      });
      waiting.delete(spec.name);
      if (!exit.ok) return midRun(exit);
      const code = exit.value.code;
      if (code === null || CLIENT_STATUSES.has(code))
        return refused(`run the container ${spec.name}`, exit.value);
      return ending(options, { spec, since, exitCode: code, until: now() });
    },
    async signal(name, signal) {
      const hanging = waiting.get(name);
      if (signal === "KILL" && hanging !== undefined)
        setTimeout(() => hanging.abort(), CLIENT_GRACE_MS).unref();
      const exit = await client.call(["kill", `--signal=${signal}`, name]);
      return absentIsFine(exit, `signal the container ${name}`);
    },
    async exists(name) {
      const filter = `name=${words.nameFilter(name)}`;
      const exit = await client.call(["ps", "-a", "--filter", filter, "--format", "{{.Names}}"]);
      if (!exit.ok) return midRun(exit);
      if (exit.value.code !== 0) return refused(`look for the container ${name}`, exit.value);
      return ok(exit.value.stdout.toString("utf8").split("\n").includes(name));
    },
    async remove(name) {
      const exit = await client.call([...words.remove, name]);
      return absentIsFine(exit, `remove the container ${name}`);
    },
    stats: (name) =>
      containerStats(
        client,
        { ask: words.stats, read: words.readStats, absent: words.absent },
        name,
      ),
    list: (stateId) => listOurs(options, stateId),
  };
}

interface Ended {
  readonly spec: ContainerSpec;
  readonly since: Date;
  readonly until: Date;
  readonly exitCode: number;
}

/** Out of memory is read from the engine's events: with `--rm` there is nothing left to inspect. */
async function ending(
  { client, words }: CommandLineOptions,
  ended: Ended,
): Promise<Result<ContainerEnd, Failure>> {
  const exit = await client.call([
    "events",
    `--since=${unixSeconds(ended.since)}`,
    `--until=${unixSeconds(ended.until)}`,
    `--filter=container=${ended.spec.name}`,
    ...words.memoryEvents,
  ]);
  const outOfMemory = exit.ok && exit.value.code === 0 && words.showMemoryLimit(exit.value.stdout);
  return ok({ exitCode: ended.exitCode, outOfMemory });
}

function unixSeconds(date: Date): string {
  return (date.getTime() / 1000).toFixed(3);
}

/** `engine-unavailable` is a refusal before anything was created; an engine that goes away later fails the run. */
function midRun({ error }: { readonly error: Failure }): Result<never, Failure> {
  return err({ ...error, code: "container-failed" });
}

async function listOurs(
  { client, words }: CommandLineOptions,
  stateId: string,
): Promise<Result<readonly Listed[], Failure>> {
  const exit = await client.call([
    "ps",
    "-a",
    "--filter=label=guardloop.run",
    `--filter=label=guardloop.state=${stateId}`,
    `--format=${words.listFormat}`,
  ]);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0) return err(engineFailure(client.kind, "list containers", exit.value));
  const found = words.readList(exit.value.stdout);
  if (found !== undefined) return ok(found);
  const name = ENGINE_NAMES[client.kind];
  return err(failure("container-failed", `${name}'s list of containers cannot be read.`));
}
