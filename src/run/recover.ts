import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { RunRecord } from "../core/run-record.ts";
import type { RunSpec } from "../core/run-spec.ts";
import { mayBeAlive } from "../process/owner.ts";
import { record, step } from "./drive.ts";
import { type RunPaths, runPaths, stateId } from "./paths.ts";
import { salvage } from "./salvage.ts";
import type { RunServices } from "./services.ts";
import { type AgentRan, removeContainers } from "./stages/agent.ts";
import { collectStage } from "./stages/collect.ts";
import { importStage } from "./stages/import.ts";
import { releaseStage } from "./stages/release.ts";
import { reviewStage } from "./stages/review.ts";
import { removeSnapshot } from "./stages/snapshot.ts";
import { readSpec } from "./stages/spec.ts";

/** What recovery did, a sentence each. */
export interface Recovery {
  readonly actions: readonly string[];
  /** Things that could not be cleaned up now, each with its reason. */
  readonly problems: readonly string[];
}

export type RecoverServices = Omit<RunServices, "paths">;

/**
 * Finds runs of this repository whose owner is provably dead and brings each to an end: what was collected is
 * imported, everything else is salvaged and undone. Then removes what no run owns. Calling it twice changes nothing
 * more.
 */
export async function recover(services: RecoverServices): Promise<Recovery> {
  const actions: string[] = [];
  const problems: string[] = [];
  for (const run of services.history.runs(services.principal.repositoryId)) {
    if (run.state !== "running" || mayBeAlive(run.owner, services.env.hostname)) continue;
    const paths = runPaths(services.env.stateDir, run.id);
    const ended = await endDeadRun({ ...services, paths }, run);
    if (ended.ok) actions.push(ended.value);
    else problems.push(`Run ${run.id}: ${ended.error.message}`);
  }
  await removeOrphans(services, { actions, problems });
  return { actions, problems };
}

async function endDeadRun(services: RunServices, run: RunRecord): Promise<Result<string, Failure>> {
  const stage =
    run.stages.findLast((timing) => timing.outcome === "running")?.stage ??
    run.stages.at(-1)?.stage ??
    "spec";
  const stopped = await removeContainers(services, run.id);
  if (!stopped.ok) return stopped;
  const spec = await readSpec(services.paths);
  const finished = spec.ok ? await finishImport(services, run, spec.value) : undefined;
  if (spec.ok && finished === undefined) await salvage(services, spec.value);
  const released = await step(services, releaseStage, { runId: run.id });
  if (!released.ok) return { ok: false, error: released.error.failure };
  if (finished !== undefined) {
    record(services, run.id, { type: "run-ready", ...finished });
    return ok(`Run ${run.id} was finished: its work is on ${finished.branch}.`);
  }
  record(services, run.id, {
    type: "run-interrupted",
    stage,
    message: `The process that owned the run died in the stage ${stage}.`,
  });
  return ok(`Run ${run.id} was ended: its owner died in the stage ${stage}.`);
}

/** When the agent had ended, its artifacts are as good as ever: the flow goes on from there. */
async function finishImport(
  services: RunServices,
  run: RunRecord,
  spec: RunSpec,
): Promise<{ branch: string; head: string } | undefined> {
  if (run.outputs.agent === undefined) return undefined;
  // The journal's own output of the stage, written by us.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const ran = { runId: run.id, spec, ...(run.outputs.agent as AgentRan) };
  const collected =
    run.outputs.collect === undefined
      ? await step(services, collectStage, ran)
      : // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        ok({ ...ran, ...(run.outputs.collect as Parameters<typeof importStage.perform>[1]) });
  if (!collected.ok) return undefined;
  const imported = await step(services, importStage, collected.value);
  if (!imported.ok) return undefined;
  await step(services, reviewStage, imported.value);
  return { branch: imported.value.imported.branch, head: imported.value.imported.head };
}

interface Report {
  readonly actions: string[];
  readonly problems: string[];
}

/** Containers and snapshots that belong to no living run: found by label and by path, without the database. */
async function removeOrphans(services: RecoverServices, report: Report): Promise<void> {
  const containers = await services.engine.list(stateId(services.env.stateDir));
  if (!containers.ok) report.problems.push(containers.error.message);
  for (const container of containers.ok ? containers.value : []) {
    if (isAlive(services, container.runId)) continue;
    const removed = await services.engine.remove(container.name);
    if (removed.ok) report.actions.push(`Removed the container ${container.name}.`);
    else report.problems.push(removed.error.message);
  }
  const directory = join(services.env.stateDir, "runs");
  for (const runId of await readdir(directory).catch(() => [])) {
    const run = services.history.run(runId);
    if (isAlive(services, runId) || (run !== undefined && run.keptSnapshot !== null)) continue;
    const paths = runPaths(services.env.stateDir, runId);
    if (!(await hasSnapshot(paths))) continue;
    await removeSnapshot({ paths });
    report.actions.push(`Removed the left-over snapshot of run ${runId}.`);
  }
}

/** A run of another repository counts as alive while its record says `running`: its own recovery looks after it. */
function isAlive(services: RecoverServices, runId: string): boolean {
  const run = services.history.run(runId);
  if (run === undefined) return false;
  return run.state === "running";
}

async function hasSnapshot(paths: RunPaths): Promise<boolean> {
  for (const path of [paths.workspace, paths.store, paths.outbox])
    if ((await lstat(path).catch(() => undefined)) !== undefined) return true;
  return false;
}
