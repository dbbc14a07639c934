import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { AgentEnding, DiskUse, RunSpec } from "../../core/run-spec.ts";
import type { ContainerEnd, OutputSink } from "../../engine/port.ts";
import type { RunServices } from "../services.ts";
import { agentRecorder } from "./agent-recorder.ts";
import { type ClockLimits, startClocks } from "./clocks.ts";
import { watchDisk } from "./disk-watch.ts";
import { watchResources } from "./resource-peaks.ts";
import { watchForCompletion } from "./signs-of-completion.ts";

/** What the first process of a container reports for a guest that was ended by SIGKILL. */
export const KILLED = 137;
/** Status of gVisor's own kernel when it cannot go on, for example without another thread. The guest never has it. */
const SANDBOX_ENDED = 2;

/** The clocks, for somebody who watches something else than the container. */
export interface OutsideClocks {
  readonly end: (clock: "budget-limit") => void;
  readonly holdFor: (durationMs: number) => void;
}

export interface WatchedContainer {
  readonly name: string;
  /** When the container was started; ISO 8601, UTC. */
  readonly startedAt: string;
  /** What is left of the clocks. */
  readonly limits: ClockLimits;
  /** What the snapshot took before the agent; undefined where nobody measured it, and then it has no disk limit. */
  readonly first: DiskUse | undefined;
  /** What can end the container, or hold its clocks, from outside of it; told of how once, before it starts. */
  readonly onClocks?: (clocks: OutsideClocks) => void;
  /** Resolves when the container has ended. */
  readonly follow: (sink: OutputSink) => Promise<Result<ContainerEnd, Failure>>;
}

export interface Watched {
  readonly ending: AgentEnding;
  /** See `ContainerEnd`. */
  readonly container?: ContainerEnd["gone"];
}

/** Looks after the agent's container until its end: clocks, disk, what it uses, and the record of its output. */
export async function watchContainer(
  services: RunServices,
  spec: RunSpec,
  container: WatchedContainer,
): Promise<Result<Watched, Failure>> {
  const { name, limits, startedAt } = container;
  using clocks = startClocks(limits, {
    signal: services.signal,
    onLimit: (signal) => void services.engine.signal(name, signal),
  });
  container.onClocks?.(clocks);
  using signs = watchForCompletion(clocks.done, services.paths.outbox);
  using disk = diskOf(services, spec, { container, onOver: () => clocks.end("disk-limit") });
  using resources = watchResources(services.engine, name);
  const telling: RunServices = {
    ...services,
    report(progress) {
      signs.sawProgress(progress);
      services.report(progress);
    },
  };
  await using recorder = await agentRecorder(telling, spec);
  let said: "nothing" | "something" = "nothing";
  const end = await container.follow({
    onOutput(stream, chunk) {
      said = "something";
      clocks.sawOutput();
      if (stream === "stderr") signs.sawError(chunk);
      recorder.add(stream, chunk);
    },
  });
  const endedAt = services.now().toISOString();
  const missing = await recorder.finish();
  const limit = clocks.reached();
  // An engine that hangs starts no container, and that is not the agent's silence.
  if (!end.ok && (limit === undefined || (limit === "idle-limit" && said === "nothing")))
    return end;
  const exitCode = end.ok ? end.value.exitCode : KILLED;
  const hitMemoryLimit = end.ok && end.value.outOfMemory;
  const kind = limit ?? (wasKilled(spec, exitCode) ? killedKind(hitMemoryLimit) : "finished");
  const ending: AgentEnding = {
    kind,
    exitCode,
    startedAt,
    endedAt,
    hitMemoryLimit,
    ...present("peaks", resources.seen()),
    ...present("disk", disk?.seen()),
    ...present("log", missing),
    ...present("expected", clocks.expected()),
  };
  return ok({ ending, ...present("container", end.ok ? end.value.gone : undefined) });
}

/** Ended from outside and not by us, or by a sandbox that could not go on. */
function wasKilled({ engine }: RunSpec, exitCode: number): boolean {
  return exitCode === KILLED || (engine.runtime === "runsc" && exitCode === SANDBOX_ENDED);
}

/** Not every engine reports its memory limit, so a kill that was not ours may be that as well. */
function killedKind(hitMemoryLimit: boolean): AgentEnding["kind"] {
  return hitMemoryLimit ? "out-of-memory" : "killed";
}

function diskOf(
  { paths }: RunServices,
  { limits }: RunSpec,
  at: { readonly container: WatchedContainer; readonly onOver: () => void },
) {
  const { first } = at.container;
  return first === undefined ? undefined : watchDisk(paths, { first, limits, onOver: at.onOver });
}

/** A key only where there is a value for it. */
function present<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  // The computed key is exactly Key.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value });
}
