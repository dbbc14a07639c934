import { CONTAINER_PURPOSES, containerName } from "../../core/ids.ts";
import { type Failure, fail } from "../../core/failures.ts";
import type { AgentEnding, RunSpec } from "../../core/run-spec.ts";
import { type Result, ok } from "../../core/result.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { agentRecorder } from "../container/agent-recorder.ts";
import { startClocks } from "../container/clocks.ts";
import { containerSpec } from "../container/container.ts";
import { inContainerSlot } from "../container/host-slots.ts";
import { watchResources } from "../container/resource-peaks.ts";
import type { RunServices } from "../services.ts";
import type { Stage } from "../stage.ts";

export interface AgentRan {
  readonly ending: AgentEnding;
}

interface Input {
  readonly runId: string;
  readonly spec: RunSpec;
}

/** What the first process of a container reports for a guest that was ended by SIGKILL. */
const KILLED = 137;
/** Status of gVisor's own kernel when it cannot go on, for example without another thread. The guest never has it. */
const SANDBOX_ENDED = 2;

/** Runs the guest, and in it the agent, in the hardened container, under the wall and idle clocks. */
export const agentStage: Stage<Input, AgentRan> = {
  name: "agent",
  async perform(services, { spec }) {
    // An attempt that was killed with us may have left a container of the same name behind.
    const cleared = await services.engine.remove(containerName(spec.runId, "agent"));
    if (!cleared.ok) return cleared;
    // The clocks begin with the container, not while it waits for its turn.
    const ran = await inContainerSlot(services, { spec, onInterrupt: "fail" }, () =>
      runContainer(services, spec),
    );
    return ran.ok ? ok({ ending: ran.value }) : ran;
  },
  async observe(services, { runId }) {
    const there = await services.engine.exists(containerName(runId, "agent"));
    return there.ok ? ok(there.value ? "present" : "absent") : there;
  },
  undo: (services, { runId }) => removeContainers(services, runId),
};

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
): Promise<Result<AgentEnding, Failure>> {
  const container = containerSpec(spec, services.paths, "agent");
  const argv = services.engine.argv(container);
  await writeAtomic(
    services.paths.containerArgv,
    `${JSON.stringify({ version: 1, argv }, null, 2)}\n`,
  );
  await using recorder = await agentRecorder(services, spec);
  using clocks = startClocks(spec.limits, {
    signal: services.signal,
    onLimit: (name) => void services.engine.signal(container.name, name),
  });
  using resources = watchResources(services.engine, container.name);
  const startedAt = services.now().toISOString();
  const end = await services.engine.run(
    container,
    {
      onOutput(stream, chunk) {
        clocks.sawOutput();
        recorder.add(stream, chunk);
      },
    },
    passedVariables(services, spec),
  );
  const endedAt = services.now().toISOString();
  const missing = await recorder.finish();
  const limit = clocks.reached();
  if (!end.ok && limit === undefined) return end;
  const exitCode = end.ok ? end.value.exitCode : 137;
  const hitMemoryLimit = end.ok && end.value.outOfMemory;
  const wasKilled = exitCode === KILLED || (isGvisor(spec) && exitCode === SANDBOX_ENDED);
  const kind = limit ?? (wasKilled ? killedKind(hitMemoryLimit) : "finished");
  const peaks = resources.seen();
  const measured = peaks === undefined ? {} : { peaks };
  const log = missing === undefined ? {} : { log: missing };
  return ok({ kind, exitCode, startedAt, endedAt, hitMemoryLimit, ...measured, ...log });
}

/** Not every engine reports its memory limit, so a kill that was not ours may be that as well. */
function killedKind(hitMemoryLimit: boolean): AgentEnding["kind"] {
  return hitMemoryLimit ? "out-of-memory" : "killed";
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
      return ok(undefined);
    case "wall-limit":
      return fail("agent-wall-limit", `The agent was ended after ${minutes(spec.limits.wallMs)}.`);
    case "idle-limit":
      return fail(
        "agent-idle-limit",
        `The agent was ended because it printed nothing for ${minutes(spec.limits.idleMs)}.`,
      );
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

function mebibytes(spec: RunSpec): number {
  return Math.round(spec.container.memoryBytes / 2 ** 20);
}

function minutes(milliseconds: number): string {
  const value = Math.round(milliseconds / 600) / 100;
  return `${value} ${value === 1 ? "minute" : "minutes"}`;
}
