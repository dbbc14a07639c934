import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { EngineKind } from "../core/run-spec.ts";
import { ENGINE_NAMES, engineClient } from "../engine/client.ts";
import { dockerEngine } from "../engine/docker/engine.ts";
import { podmanEngine } from "../engine/podman/engine.ts";
import type { Engine, EngineFacts } from "../engine/port.ts";
import { markEngine } from "../run/afterwards/engine-marks.ts";
import { attempt } from "../run/drive.ts";
import { findProgram } from "../process/find-program.ts";
import { ownLimits } from "../process/own-limits.ts";
import type { Context } from "./context.ts";

const KINDS: readonly EngineKind[] = ["docker", "podman"];

/** Which engine is wanted; `runtime` is undefined for its default. */
export interface WantedEngine {
  readonly engine: EngineKind | "auto";
  readonly runtime: string | undefined;
}

export interface AnsweringEngine {
  readonly engine: Engine;
  readonly facts: EngineFacts;
  /** Why another engine was passed over; undefined when none was. */
  readonly insteadOf: string | undefined;
}

/**
 * The engine that was asked for, proven to answer. `auto` takes Docker when it answers and suits, else Podman when that does,
 * else says why Docker does not.
 */
export async function openEngine(
  context: Context,
  wanted: WantedEngine,
): Promise<Result<AnsweringEngine, Failure>> {
  const opened = await choose(context, wanted);
  if (opened.ok) PROVEN.set(context, opened.value);
  return opened;
}

/** The engine that an invocation has opened, by its context. */
const PROVEN = new WeakMap<Context, AnsweringEngine>();

async function choose(
  context: Context,
  wanted: WantedEngine,
): Promise<Result<AnsweringEngine, Failure>> {
  if (wanted.engine !== "auto") return open(context, wanted.engine, wanted.runtime);
  const docker = await open(context, "docker", wanted.runtime);
  if (docker.ok) return docker;
  // A Docker that answers, and lacks only the runtime, is the engine that was meant.
  if (wanted.runtime !== undefined && (await open(context, "docker")).ok) return docker;
  if (programOf(context, "podman") === undefined) return docker;
  const podman = await open(context, "podman", wanted.runtime);
  if (podman.ok) return ok({ ...podman.value, insteadOf: docker.error.message });
  const { code, message, cure, details } = docker.error;
  return fail(code, message, { cure, details: [...details, podman.error.message] });
}

/**
 * The engines of this machine that answer, every one or of some kinds: what is to be cleaned up may be in any of them.
 * One that has answered `openEngine` for this invocation is among them, and is not asked again.
 */
export async function answeringEngines(
  context: Context,
  kinds: readonly EngineKind[] = KINDS,
): Promise<Result<readonly Engine[], Failure>> {
  const proven = PROVEN.get(context);
  const asked = KINDS.filter((kind) => kinds.includes(kind) || proven?.engine.kind === kind);
  const opened = await Promise.all(
    asked.map(async (kind) =>
      proven?.engine.kind === kind ? ok(proven) : open(context, kind, undefined),
    ),
  );
  const answering = opened.flatMap((one) => (one.ok ? [one.value.engine] : []));
  const [first] = opened;
  return answering.length === 0 && first?.ok === false ? first : ok(answering);
}

/** Absolute path of an engine's client; `auto` takes the engine that `run` would take. */
export async function engineProgram(
  context: Context,
  wanted: EngineKind | "auto",
): Promise<Result<{ readonly kind: EngineKind; readonly program: string }, Failure>> {
  const kind = wanted === "auto" ? await kindTaken(context) : ok(wanted);
  if (!kind.ok) return kind;
  const program = programOf(context, kind.value);
  return program === undefined ? notFound(kind.value) : ok({ kind: kind.value, program });
}

async function kindTaken(context: Context): Promise<Result<EngineKind, Failure>> {
  const opened = await openEngine(context, { engine: "auto", runtime: undefined });
  return opened.ok ? ok(opened.value.engine.kind) : opened;
}

function programOf(context: Context, kind: EngineKind): string | undefined {
  return findProgram(kind, context.env.path);
}

async function open(
  context: Context,
  kind: EngineKind,
  runtime = "",
): Promise<Result<AnsweringEngine, Failure>> {
  const engine = await engineOf(context, kind, runtime);
  if (!engine.ok) return engine;
  const facts = await engine.value.probe();
  return facts.ok ? ok({ engine: engine.value, facts: facts.value, insteadOf: undefined }) : facts;
}

/** An engine that was not asked yet whether it answers; its client gets the context's environment. */
export async function engineOf(
  context: Context,
  kind: EngineKind,
  runtime: string,
): Promise<Result<Engine, Failure>> {
  const program = programOf(context, kind);
  if (program === undefined) return notFound(kind);
  const client = engineClient(kind, program, context.env);
  const { now } = context;
  const engine =
    kind === "docker"
      ? dockerEngine(client, runtime, now)
      : podmanEngine({ client, runtime, host: await podmanHost(context), now });
  return ok(marking(context, engine));
}

/** An engine that leaves a mark before its first container, so that recovery knows where to look. */
function marking({ env }: Context, engine: Engine): Engine {
  let marked: Promise<Result<"marked" | "no place", Failure>> | undefined;
  const mark = () => attempt(async () => ok(await markEngine(env, engine.kind)));
  return {
    ...engine,
    async run(...started) {
      const done = await (marked ??= mark());
      if (!done.ok) return done;
      // A check of the engine may come before there is a state directory.
      if (done.value === "no place") marked = undefined;
      return engine.run(...started);
    },
  };
}

async function podmanHost(context: Context) {
  const { openFiles, processes } = await ownLimits();
  const hasRunc = findProgram("runc", context.env.path) !== undefined;
  return { openFilesLimit: openFiles, processesLimit: processes, hasRunc };
}

function notFound(kind: EngineKind): Result<never, Failure> {
  const packages = { docker: "docker.io", podman: "podman" } as const;
  return fail("engine-unavailable", `${kind} is not on PATH.`, {
    cure: `Install ${ENGINE_NAMES[kind]} (on Debian: apt-get install ${packages[kind]}), then run \`guardloop doctor\`.`,
  });
}
