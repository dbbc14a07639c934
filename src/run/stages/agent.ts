import { lstat } from "node:fs/promises";
import { CONTAINER_PURPOSES, containerName } from "../../core/ids.ts";
import type { EgressEntry } from "../../core/egress.ts";
import { NO_EGRESS, withEntry } from "../../core/egress-totals.ts";
import { type Failure, fail } from "../../core/failures.ts";
import type { AgentEnding, DiskUse, RunSpec } from "../../core/run-spec.ts";
import { LIMITS } from "../../core/limits.ts";
import { type Result, ok } from "../../core/result.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { egressLog } from "../egress/egress-log.ts";
import { openAgentProxy } from "../egress/host-proxy.ts";
import { openRunGateway } from "../egress/model-gateway.ts";
import { redactorInUse } from "../logs/redactions-in-use.ts";
import { containerSpec } from "../container/container.ts";
import { inContainerSlot } from "../container/host-slots.ts";
import { readLayers } from "../layers/layers.ts";
import { rehearse } from "../review/rehearsal.ts";
import { type Watched, watchContainer } from "../container/watched-container.ts";
import type { RunServices } from "../services.ts";
import type { Stage } from "../stage.ts";

export type AgentRan = Watched;

interface Input {
  readonly runId: string;
  readonly spec: RunSpec;
  readonly snapshot: { readonly first: DiskUse };
}

/** Runs the guest, and in it the agent, in the hardened container, under its clocks and its limits on the disk. */
export const agentStage: Stage<Input, AgentRan> = {
  name: "agent",
  async perform(services, { spec, snapshot }) {
    const cleared = await removeEarlier(services, spec.runId);
    if (!cleared.ok) return cleared;
    // The clocks begin with the container, not while it waits for its turn.
    return inContainerSlot(services, { spec, onInterrupt: "fail" }, () =>
      runContainer(services, spec, snapshot.first),
    );
  },
  async observe(services, { runId }) {
    const there = await services.engine.exists(containerName(runId, "agent"));
    return there.ok ? ok(there.value ? "present" : "absent") : there;
  },
  undo: (services, { runId }) => removeContainers(services, runId),
};

/**
 * An attempt that was killed with us may have left a container of the same name behind. Without the argv, which is on
 * disk before a container is started, there was none, and the engine is not asked: it refuses a second one of that name.
 */
async function removeEarlier(
  { engine, paths }: RunServices,
  runId: string,
): Promise<Result<void, Failure>> {
  const argv = await lstat(paths.containerArgv).catch(() => undefined);
  return argv === undefined ? ok(undefined) : engine.remove(containerName(runId, "agent"));
}

/** Ends whatever containers a run still has. May be called twice. */
export async function removeContainers(
  services: Pick<RunServices, "engine">,
  runId: string,
): Promise<Result<void, Failure>> {
  for (const purpose of CONTAINER_PURPOSES) {
    const removed = await services.engine.remove(containerName(runId, purpose));
    if (!removed.ok) return removed;
  }
  return ok(undefined);
}

async function runContainer(
  services: RunServices,
  spec: RunSpec,
  first: DiskUse | undefined,
): Promise<Result<Watched, Failure>> {
  const redactor = await redactorInUse(services, spec);
  await using log = egressLog(services, spec.runId, redactor);
  let egress = NO_EGRESS;
  const onEntry = (entry: EgressEntry): void => {
    egress = withEntry(egress, entry);
    log.add(entry);
  };
  const ended = await besideGateways(services, spec, { first, onEntry });
  const isOpen = spec.gateway !== undefined || (spec.allowHosts ?? []).length > 0;
  // Only now: what was still under way at the agent's end is written down when its gateway closes.
  return ended.ok && isOpen ? ok(withEnding(ended.value, { egress })) : ended;
}

/** The agent's container, with the ways out of it that its run allows open as long as it lives. */
async function besideGateways(
  services: RunServices,
  spec: RunSpec,
  at: { readonly first: DiskUse | undefined; readonly onEntry: (entry: EgressEntry) => void },
): Promise<Result<Watched, Failure>> {
  const opened = await openRunGateway(services, spec, at.onEntry);
  if (!opened.ok) return opened;
  await using gateway = opened.value;
  const allowed = await openAgentProxy(services, spec, at.onEntry);
  if (!allowed.ok) return allowed;
  await using proxy = allowed.value;
  const sockets = { model: gateway?.socketPath, proxy: proxy?.socketPath };
  const container = containerSpec(spec, services.paths, {
    purpose: "agent",
    layers: await readLayers(services.paths),
    sockets,
  });
  const argv = services.engine.argv(container);
  await writeAtomic(
    services.paths.containerArgv,
    `${JSON.stringify({ version: 1, argv }, null, 2)}\n`,
  );
  const passed = passedVariables(services, spec);
  const ended = await watchContainer(services, spec, {
    ...(gateway === undefined ? {} : { onClocks: gateway.watch }),
    name: container.name,
    startedAt: services.now().toISOString(),
    limits: spec.limits,
    first: at.first,
    async follow(sink) {
      const [end] = await Promise.all([
        services.engine.run(container, sink, passed),
        rehearse(spec),
      ]);
      return end;
    },
  });
  if (!ended.ok || ended.value.ending.kind !== "budget-limit") return ended;
  const exhausted = gateway?.exhausted();
  return exhausted === undefined ? ended : ok(withEnding(ended.value, { exhausted }));
}

function withEnding(watched: Watched, more: Partial<AgentEnding>): Watched {
  return { ...watched, ending: { ...watched.ending, ...more } };
}

function isGvisor({ engine }: RunSpec): boolean {
  return engine.runtime === "runsc";
}

function passedVariables(services: RunServices, spec: RunSpec): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const name of spec.agent.passEnv) {
    const value = services.env.read(name);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** The failure that an ending means for the run, once what was left has been saved. */
export function refuseEnding(ending: AgentEnding, spec: RunSpec): Result<void, Failure> {
  switch (ending.kind) {
    case "finished":
    // What it has left decides: it was done, by all signs.
    case "completion-limit":
      return ok(undefined);
    case "wall-limit":
      return fail("agent-wall-limit", `The agent was ended after ${minutes(spec.limits.wallMs)}.`);
    case "idle-limit":
      return fail(
        "agent-idle-limit",
        `The agent was ended because it printed nothing for ${minutes(spec.limits.idleMs)}.`,
      );
    case "disk-limit":
      return fail("disk-limit", `The agent was ended because ${whatGrew(ending, spec)}.`);
    case "budget-limit":
      return fail("budget-exhausted", ending.exhausted ?? "A budget was used up.");
    case "out-of-memory":
      return fail(
        "agent-out-of-memory",
        `The container was ended at its memory limit of ${mebibytes(spec)} MiB.`,
      );
    case "killed":
      return fail(
        "agent-killed",
        `The container was killed, at its memory limit of ${mebibytes(spec)} MiB${processLimit(spec)} or from outside.`,
      );
    case "interrupted":
      return fail("interrupted", "The run was interrupted while the agent worked.");
  }
}

/** Elsewhere a process too many is refused to the program that wanted it; gVisor's kernel ends. */
function processLimit(spec: RunSpec): string {
  return isGvisor(spec) ? `, at its limit of ${spec.container.pids} processes,` : "";
}

function whatGrew({ disk }: AgentEnding, { limits }: RunSpec): string {
  switch (disk?.over) {
    case "bytes":
      return `the snapshot had grown by ${inMebibytes(disk.bytes)} MiB, beyond its limit of ${inMebibytes(limits.diskBytes ?? 0)} MiB`;
    case "entries":
      return `the snapshot had ${disk.entries} files and directories more than at the start, beyond its limit of ${limits.files ?? 0}`;
    case "depth":
      return `the snapshot had directories nested deeper than ${LIMITS.pathDepth}, whose size cannot be measured`;
    default:
      return "the snapshot outgrew its limit on the disk";
  }
}

function inMebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function mebibytes(spec: RunSpec): number {
  return inMebibytes(spec.container.memoryBytes);
}

export function minutes(milliseconds: number): string {
  if (milliseconds < 60_000) return `${Math.round(milliseconds / 100) / 10} seconds`;
  const value = Math.round(milliseconds / 600) / 100;
  return `${value} ${value === 1 ? "minute" : "minutes"}`;
}
