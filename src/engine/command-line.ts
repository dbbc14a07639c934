import { type Failure, fail, failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { Exit } from "../process/command.ts";
import { ENGINE_NAMES, type EngineClient, engineFailure } from "./client.ts";
import { inspectImage } from "./inspect-image.ts";
import { namelessImages, removeNamelessImage } from "./nameless-images.ts";
import { overlayProblem } from "./overlay-mount.ts";
import type { Engine, EngineFacts, FollowFrom, FollowedEnd, OutputSink } from "./port.ts";
import { runArguments } from "./posture.ts";
import { type PrintedStats, containerStats } from "./stats.ts";
import { waitingClients } from "./waiting-clients.ts";

/**
 * Statuses with which the client says that it could not run the container; see docker-run(1) and podman-run(1). A
 * program in the container may end with them as well: a shell says 127 of a program that is not there.
 */
const CLIENT_STATUSES: ReadonlySet<number> = new Set([125, 126, 127]);
/** The client's own deadline lies far beyond the run's clocks, which end the container, not the client. */
const CLIENT_DEADLINE_MS = 7 * 24 * 60 * 60_000;
/** An engine that does not answer by then is asked again, with patience, by whom the answer matters to. */
const GONE_DEADLINE_MS = 5_000;
/** Kept of the client's standard error for messages, from its end; the whole stream goes to the sink. */
const KEPT_BYTES = 16 * 1024;

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
  /** Arguments that print a container's output, from a time on where the engine keeps it, until it ends. */
  readonly follow: (name: string, since: string) => readonly string[];
  readonly listFormat: string;
  /** Undefined when the list cannot be read. */
  readonly readList: (stdout: Buffer) => readonly Listed[] | undefined;
  /** What stands in standard error when the client itself could not start a container; a container can print it too. */
  readonly notStarted: RegExp;
  /** The same for a client that lost a container which had started. */
  readonly lost: RegExp;
  /** Arguments of `events`, besides times and container, that print something where the container had started. */
  readonly startEvents: readonly string[];
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
  const waiting = waitingClients();
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
      const problem = spec.overlays?.map(overlayProblem).find((one) => one !== undefined);
      if (problem !== undefined)
        return fail("container-failed", `The container cannot be started because ${problem}.`);
      const since = now();
      const start = performance.now();
      const stderr = endOf(KEPT_BYTES);
      const exit = await waiting.during(spec.name, (signal) =>
        client.call(runArguments(kind, spec), {
          deadlineMs: CLIENT_DEADLINE_MS,
          maxOutputBytes: 0,
          extraEnv: environment,
          onOutput(stream, chunk) {
            if (stream === "stderr") stderr.add(chunk);
            sink.onOutput(stream, chunk);
          },
          signal,
        }),
      );
      if (!exit.ok) return midRun(exit);
      const said = { ...exit.value, stderr: stderr.bytes() };
      const ended = span(spec.name, { since, until: now(), lastedMs: performance.now() - start });
      if (said.code === null || (await isClientsOwn(options, said, ended)))
        return refused(`run the container ${spec.name}`, said);
      const [outOfMemory, there] = await Promise.all([
        hitMemoryLimit(options, ended),
        exists(options, spec.name, GONE_DEADLINE_MS),
      ]);
      const gone = there.ok && !there.value ? ({ gone: "proven" } as const) : {};
      return ok({ exitCode: said.code, outOfMemory, ...gone });
    },
    follow: (name, from, sink) =>
      waiting.during(name, (giveUp) => follow(options, { name, from, sink, giveUp })),
    async signal(name, signal) {
      if (signal === "KILL") waiting.killed(name);
      const exit = await client.call(["kill", `--signal=${signal}`, name]);
      return absentIsFine(exit, `signal the container ${name}`);
    },
    exists: (name) => exists(options, name),
    async remove(name) {
      const exit = await client.call([...words.remove, name]);
      return absentIsFine(exit, `remove the container ${name}`);
    },
    stats: (name) => statsOf(options, name),
    list: (stateId) => listOurs(options, stateId),
    namelessImages: () => namelessImages(client),
    removeNamelessImage: (id) => removeNamelessImage(client, id),
  };
}

async function exists(
  { client, words }: CommandLineOptions,
  name: string,
  deadlineMs: number = DEADLINES.engineQuickMs,
): Promise<Result<boolean, Failure>> {
  const filter = `name=${words.nameFilter(name)}`;
  const args = ["ps", "-a", "--filter", filter, "--format", "{{.Names}}"];
  const exit = await client.call(args, { deadlineMs });
  if (!exit.ok) return midRun(exit);
  if (exit.value.code !== 0)
    return midRun(err(engineFailure(client.kind, `look for the container ${name}`, exit.value)));
  return ok(exit.value.stdout.toString("utf8").split("\n").includes(name));
}

function statsOf({ client, words }: CommandLineOptions, name: string) {
  const { stats: ask, readStats: read, absent } = words;
  return containerStats(client, { ask, read, absent }, name);
}

interface Ended {
  readonly name: string;
  readonly since: Date;
  readonly until: Date;
}

/** When a container lived, by the engine's clock: where that was set back meanwhile, the beginning is before the end all the same. */
function span(
  name: string,
  at: { readonly since: Date; readonly until: Date; readonly lastedMs: number },
): Ended {
  const { since, until, lastedMs } = at;
  return { name, since: new Date(Math.min(since.getTime(), until.getTime() - lastedMs)), until };
}

/**
 * Whether an exit is the client's own, about a container that did not run. Its words alone could be the container's, so
 * the engine is asked whether the container had started; where it does not answer the words count.
 */
async function isClientsOwn(
  options: CommandLineOptions,
  exit: Exit,
  ended: Ended,
): Promise<boolean> {
  if (exit.code === null || !CLIENT_STATUSES.has(exit.code)) return false;
  const { words } = options;
  const stderr = exit.stderr.toString("utf8");
  if (words.lost.test(stderr)) return true;
  if (!words.notStarted.test(stderr)) return false;
  const started = await eventsOf(options, ended, words.startEvents);
  return started === undefined || started.toString("utf8").trim() === "";
}

/** Read from the engine's events: with `--rm` there is nothing left to inspect. */
async function hitMemoryLimit(options: CommandLineOptions, ended: Ended): Promise<boolean> {
  const seen = await eventsOf(options, ended, options.words.memoryEvents);
  return seen !== undefined && options.words.showMemoryLimit(seen);
}

/** What the engine prints about a container's life; undefined where it does not answer. */
async function eventsOf(
  { client }: CommandLineOptions,
  ended: Ended,
  which: readonly string[],
): Promise<Buffer | undefined> {
  const exit = await client.call([
    "events",
    `--since=${unixSeconds(ended.since)}`,
    `--until=${unixSeconds(ended.until)}`,
    `--filter=container=${ended.name}`,
    ...which,
  ]);
  return exit.ok && exit.value.code === 0 ? exit.value.stdout : undefined;
}

/** Keeps the last bytes of a stream: what a client says last is why it gave up. */
function endOf(limitBytes: number) {
  let kept = Buffer.alloc(0);
  return {
    add(chunk: Buffer): void {
      kept = Buffer.concat([kept, chunk]).subarray(-limitBytes);
    },
    bytes: (): Buffer => kept,
  };
}

/** After the container's end its output may take this long to arrive. */
const LAST_OUTPUT_MS = 10_000;

/** Two clients: one waits for the end and tells the status, the other prints the output. */
async function follow(
  options: CommandLineOptions,
  at: {
    readonly name: string;
    readonly from: FollowFrom;
    readonly sink: OutputSink;
    readonly giveUp: AbortSignal;
  },
): Promise<Result<FollowedEnd, Failure>> {
  const { client, words, now } = options;
  const { name, from, sink, giveUp } = at;
  const enough = new AbortController();
  const printing = client.call(words.follow(name, unixSeconds(from.output)), {
    deadlineMs: CLIENT_DEADLINE_MS,
    maxOutputBytes: KEPT_BYTES,
    onOutput: sink.onOutput,
    signal: enough.signal,
  });
  const waited = await client.call(["wait", name], {
    deadlineMs: CLIENT_DEADLINE_MS,
    signal: giveUp,
  });
  const late = setTimeout(() => enough.abort(), LAST_OUTPUT_MS);
  await printing;
  clearTimeout(late);
  if (!waited.ok) return midRun(waited);
  const { code, stdout, stderr } = waited.value;
  if (code !== 0 && !words.absent.test(stderr.toString("utf8")))
    return midRun(err(engineFailure(client.kind, `wait for the container ${name}`, waited.value)));
  const status = /^\d{1,3}$/.exec(stdout.toString("utf8").trim())?.[0];
  const outOfMemory = await hitMemoryLimit(
    options,
    span(name, { since: from.started, until: now(), lastedMs: 0 }),
  );
  return ok({ exitCode: status === undefined ? undefined : Number(status), outOfMemory });
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
