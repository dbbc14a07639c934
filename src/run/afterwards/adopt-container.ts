import { appendFile, stat } from "node:fs/promises";
import { agentAdapter } from "../../agents/registry.ts";
import type { AgentAdapter } from "../../agents/port.ts";
import { containerName } from "../../core/ids.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { AgentEnding, RunSpec } from "../../core/run-spec.ts";
import type { ContainerEnd, OutputSink } from "../../engine/port.ts";
import { ownerOf } from "../../process/owner.ts";
import { parseManifest } from "../artifacts/manifest.ts";
import { readOutbox } from "../artifacts/outbox.ts";
import { KILLED, watchContainer } from "../container/watched-container.ts";
import { type Stop, record, step } from "../drive.ts";
import { cleaned, endFlow, orCutShort, reportingWithout } from "../flow.ts";
import { redactorInUse } from "../logs/redactions-in-use.ts";
import { runPaths } from "../paths.ts";
import type { RunServices } from "../services.ts";
import { readStopRequest } from "../stop-request.ts";
import { type AgentRan, removeContainers } from "../stages/agent.ts";
import { type Collected, collectStage } from "../stages/collect.ts";
import { type Imported, importStage } from "../stages/import.ts";
import type { Snapshotted } from "../stages/snapshot.ts";
import { readSpec } from "../stages/spec.ts";
import { whileBusy } from "./busy.ts";
import type { RecoverServices, Report } from "./recovery.ts";

/** A run whose owner died while its agent worked, and which can go on. */
export interface Orphan {
  readonly services: RunServices;
  readonly run: RunRecord;
  readonly spec: RunSpec;
  /** `ended`: by itself since the owner's death, with its work exported. */
  readonly container: "running" | "ended";
  /** When the agent's stage began; ISO 8601, UTC. */
  readonly startedAt: string;
}

/** An orphan that is this process's own now. */
export type Adopted = Orphan;

/** Whether a dead run can go on; undefined where it was told to stop, or nothing of its agent is there any more. */
export async function findOrphan(
  recovering: RecoverServices,
  run: RunRecord,
): Promise<Orphan | undefined> {
  const paths = runPaths(recovering.env.stateDir, run.id);
  const spec = await readSpec(paths);
  const stage = run.stages.findLast((timing) => timing.outcome === "running");
  if (!spec.ok || stage?.stage !== "agent") return undefined;
  if ((await readStopRequest(paths)) !== undefined) return undefined;
  const engine = recovering.engines.find((one) => one.kind === spec.value.engine.kind);
  const leases = recovering.pools.find((one) => one.kind === spec.value.lease);
  if (engine === undefined || leases === undefined) return undefined;
  const there = await engine.exists(containerName(run.id, "agent"));
  if (!there.ok) return undefined;
  const services: RunServices = {
    ...recovering,
    engine,
    leases,
    paths,
    adapter: adapterOf(spec.value),
  };
  const canGoOn = there.value ? !needsGateway(spec.value) : await isExported(services);
  if (!canGoOn) return undefined;
  const container = there.value ? "running" : "ended";
  return { services, run, spec: spec.value, container, startedAt: stage.startedAt };
}

/** That died with its owner: an agent that still works cannot reach its model any more. */
function needsGateway({ gateway, allowHosts = [] }: RunSpec): boolean {
  return gateway !== undefined || allowHosts.length > 0;
}

/** Its event stream is read on by the adapter it was started with. */
function adapterOf({ agent }: RunSpec): AgentAdapter {
  // The spec's name came from the settings, which allow no other.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return agentAdapter(agent.name as AgentAdapter["name"]);
}

/** The manifest is written last. */
async function isExported({ paths }: RunServices): Promise<boolean> {
  const outbox = await readOutbox(paths.outbox);
  return outbox.ok && parseManifest(outbox.value.manifest).ok;
}

/** Writes down that the run is this process's now: from here on it counts as alive. To be followed by `goOn`. */
export function adopt(orphan: Orphan): Adopted {
  const { services, run } = orphan;
  const { hostname } = services.env;
  record(services, run.id, { type: "run-adopted", owner: ownerOf(process.pid, hostname) });
  return orphan;
}

/** Looks after an adopted run to its end, as the flow would have; adds a sentence about it to the report. */
export async function goOn(adopted: Adopted, report: Report): Promise<void> {
  const { services, run, spec } = adopted;
  const held = await whileBusy(services, run.id, async () => {
    const redactor = await redactorInUse(services, spec);
    const telling = reportingWithout(redactor, services);
    const toTheEnd = async () => {
      const imported = await fromContainer({ ...adopted, services: telling });
      return endFlow(telling, { runId: run.id, spec }, cleaned(redactor, imported));
    };
    return ok(await orCutShort(telling, spec, toTheEnd));
  });
  if (!held.ok) report.problems.push(`Run ${run.id}: ${held.error.message}`);
  else if (held.value.ok)
    report.actions.push(
      `Run ${run.id} was adopted: its work is on ${held.value.value.imported.branch}.`,
    );
  else
    report.actions.push(
      `Run ${run.id} was adopted, and ended: ${held.value.error.failure.message}`,
    );
}

type Adoptive = { readonly runId: string; readonly spec: RunSpec; readonly ending: AgentEnding };

/** From the container's end to the import. The journal has the agent stage's intent already. */
async function fromContainer(
  adopted: Adopted,
): Promise<Result<Adoptive & Collected & Imported, Stop>> {
  const { services, run, spec } = adopted;
  const ended = await endOf(adopted);
  if (!ended.ok) {
    const { code } = ended.error;
    record(services, run.id, { type: "stage-failed", stage: "agent", code });
    const undone = await removeContainers(services, run.id);
    if (undone.ok) record(services, run.id, { type: "stage-undone", stage: "agent" });
    return err({ stage: "agent", failure: ended.error });
  }
  const output = ended.value;
  record(services, run.id, { type: "stage-done", stage: "agent", output });
  const collected = await step(services, collectStage, { runId: run.id, spec, ...output });
  return collected.ok ? step(services, importStage, collected.value) : collected;
}

async function endOf(adopted: Adopted): Promise<Result<AgentRan, Failure>> {
  const { services, run, spec, startedAt } = adopted;
  if (adopted.container === "ended") return ok({ ending: await endedMeanwhile(adopted) });
  const started = new Date(startedAt);
  const output = await lastOutput(services, started);
  await markGap(services);
  const spentMs = Math.max(0, services.now().getTime() - started.getTime());
  return watchContainer(services, spec, {
    name: containerName(run.id, "agent"),
    startedAt,
    // Nobody watched meanwhile, and nobody knows when the agent was last heard: that clock begins anew.
    limits: { ...spec.limits, wallMs: Math.max(0, spec.limits.wallMs - spentMs) },
    first: firstDiskUse(run),
    follow: (sink) => follow(adopted, { started, output }, sink),
  });
}

/**
 * The guest was told to stop where the engine ended the container because its client was gone, as Podman does at the
 * container's next output: then the agent did not finish.
 */
async function endedMeanwhile({ services, startedAt }: Adopted): Promise<AgentEnding> {
  const outbox = await readOutbox(services.paths.outbox);
  const manifest = parseManifest(outbox.ok ? outbox.value.manifest : undefined);
  const stopped = manifest.ok && manifest.value.agent.outcome === "stopped";
  const endedAt = services.now().toISOString();
  const kind = stopped ? "interrupted" : "finished";
  return { kind, exitCode: 0, startedAt, endedAt, hitMemoryLimit: false };
}

async function follow(
  { services, run }: Adopted,
  from: { readonly started: Date; readonly output: Date },
  sink: OutputSink,
): Promise<Result<ContainerEnd, Failure>> {
  const end = await services.engine.follow(containerName(run.id, "agent"), from, sink);
  if (!end.ok) return end;
  const { exitCode, outOfMemory } = end.value;
  // It ended while we came: with a manifest in time, without one nobody knows how.
  const unknown = (await isExported(services)) ? 0 : KILLED;
  return ok({ exitCode: exitCode ?? unknown, outOfMemory });
}

/** When the log was last written to: what was printed before that is in it. */
async function lastOutput({ paths }: RunServices, started: Date): Promise<Date> {
  return (await stat(paths.agentLog).catch(() => undefined))?.mtime ?? started;
}

async function markGap({ paths, now }: RunServices): Promise<void> {
  const text = `\n[guardloop: adopted by process ${process.pid} at ${now().toISOString()}; output around here may be missing or there twice]\n`;
  await appendFile(paths.agentLog, text, { mode: 0o600 });
}

/** As the snapshot stage measured it; undefined in records that do not have it, and then there is no disk limit. */
function firstDiskUse({ outputs }: RunRecord) {
  // The journal's own output of the stage, written by us.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const output = outputs.snapshot as Partial<Snapshotted> | undefined;
  return output?.snapshot?.first;
}
