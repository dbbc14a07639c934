import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { RunRecord } from "../core/run-record.ts";
import type { RunSpec } from "../core/run-spec.ts";
import type { LeasePool } from "../lease/port.ts";
import { isHeld } from "../files/lock-file.ts";
import { mayBeAlive } from "../process/owner.ts";
import { record, step } from "./drive.ts";
import type { Started } from "./flow.ts";
import { type RunPaths, runPaths, stateId } from "./paths.ts";
import { salvage } from "./afterwards/salvage.ts";
import type { RunServices } from "./services.ts";
import { readStopRequest, stoppedBy } from "./stop-request.ts";
import { type AgentRan, removeContainers } from "./stages/agent.ts";
import { type Collected, collectStage } from "./stages/collect.ts";
import { type Imported, importStage } from "./stages/import.ts";
import { leaseHolder } from "./stages/lease.ts";
import { releaseStage } from "./stages/release.ts";
import { reviewStage } from "./stages/review.ts";
import { removeSnapshot } from "./stages/snapshot.ts";
import { readSpec } from "./stages/spec.ts";
import { validateStage } from "./stages/validate.ts";

/** What recovery did, a sentence each. */
export interface Recovery {
  readonly actions: readonly string[];
  /** Things that could not be cleaned up now, each with its reason. */
  readonly problems: readonly string[];
}

/** Like a run's services, with every pool that a dead run may have leased from. */
export interface RecoverServices extends Omit<RunServices, "paths" | "leases"> {
  readonly pools: readonly LeasePool[];
}

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
    const ended = await endDeadRun(services, run);
    if (ended.ok) actions.push(ended.value);
    else problems.push(`Run ${run.id}: ${ended.error.message}`);
  }
  await removeOrphans(services, { actions, problems });
  return { actions, problems };
}

async function endDeadRun(
  recovering: RecoverServices,
  run: RunRecord,
): Promise<Result<string, Failure>> {
  const paths = runPaths(recovering.env.stateDir, run.id);
  const stopped = await removeContainers(recovering, run.id);
  if (!stopped.ok) return stopped;
  const spec = await readSpec(paths);
  const leases = spec.ok
    ? recovering.pools.find((pool) => pool.kind === spec.value.lease)
    : recovering.pools[0];
  if (leases === undefined)
    return fail("tool-missing", "It has a lease of treehouse, which is not available now.");
  const services: RunServices = { ...recovering, paths, leases };
  const imported = spec.ok ? await finishImport(services, run, spec.value) : undefined;
  if (spec.ok && imported === undefined) await salvage(services, spec.value);
  const released = await step(services, releaseStage, { runId: run.id });
  if (!released.ok) return err(released.error.failure);
  return imported === undefined ? interrupted(services, run) : finished(services, imported);
}

async function interrupted(
  services: RunServices,
  run: RunRecord,
): Promise<Result<string, Failure>> {
  const stage =
    run.stages.findLast((timing) => timing.outcome === "running")?.stage ??
    run.stages.at(-1)?.stage ??
    "spec";
  const request = await readStopRequest(services.paths);
  const message =
    request === undefined
      ? `The process that owned the run died in the stage ${stage}.`
      : `${stoppedBy(request)}, in the stage ${stage}.`;
  record(services, run.id, { type: "run-interrupted", stage, message });
  return ok(`Run ${run.id} was ended: its owner died in the stage ${stage}.`);
}

async function finished(
  services: RunServices,
  run: RecoveredImport,
): Promise<Result<string, Failure>> {
  await step(services, validateStage, run);
  await step(services, reviewStage, run);
  const { branch, head } = run.imported;
  record(services, run.runId, { type: "run-ready", branch, head });
  return ok(`Run ${run.runId} was finished: its work is on ${branch}.`);
}

type RecoveredImport = Started & AgentRan & Collected & Imported;

/** When the agent had ended, its artifacts are as good as ever: the flow goes on from there. */
async function finishImport(
  services: RunServices,
  run: RunRecord,
  spec: RunSpec,
): Promise<RecoveredImport | undefined> {
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
  return imported.ok ? imported.value : undefined;
}

interface Report {
  readonly actions: string[];
  readonly problems: string[];
}

/** What belongs to no living run: found by label, by path and by holder, so it works without the database too. */
async function removeOrphans(services: RecoverServices, report: Report): Promise<void> {
  await removeOrphanContainers(services, report);
  await returnOrphanLeases(services, report);
  await removeOrphanSnapshots(services, report);
}

async function removeOrphanContainers(services: RecoverServices, report: Report): Promise<void> {
  const containers = await services.engine.list(stateId(services.env.stateDir));
  if (!containers.ok) report.problems.push(containers.error.message);
  for (const container of containers.ok ? containers.value : []) {
    if (await isAlive(services, container.runId)) continue;
    const removed = await services.engine.remove(container.name);
    if (removed.ok) report.actions.push(`Removed the container ${container.name}.`);
    else report.problems.push(removed.error.message);
  }
}

async function returnOrphanLeases(services: RecoverServices, report: Report): Promise<void> {
  for (const pool of services.pools) {
    const leases = await pool.find(leaseHolder(""));
    if (!leases.ok) report.problems.push(leases.error.message);
    for (const lease of leases.ok ? leases.value : []) {
      if (await isAlive(services, lease.holder.slice(leaseHolder("").length))) continue;
      const returned = await pool.release(lease);
      if (returned.ok) report.actions.push(`Returned the lease of ${lease.path}.`);
      else report.problems.push(returned.error.message);
    }
  }
}

async function removeOrphanSnapshots(services: RecoverServices, report: Report): Promise<void> {
  const directory = join(services.env.stateDir, "runs");
  for (const runId of await readdir(directory).catch(() => [])) {
    const run = services.history.run(runId);
    const paths = runPaths(services.env.stateDir, runId);
    if ((await isAlive(services, runId)) || !(await hasSnapshot(paths))) continue;
    if (run === undefined)
      report.problems.push(
        `${paths.root} holds a snapshot, but the history does not know its run: look for work in it, then remove it.`,
      );
    else if (
      run.keptSnapshot === null ||
      Date.parse(run.keptSnapshot.until) < services.now().getTime()
    ) {
      await removeSnapshot({ paths });
      if (run.keptSnapshot !== null) services.history.append(runId, { type: "snapshot-removed" });
      report.actions.push(`Removed the left-over snapshot of run ${runId}.`);
    }
  }
}

/**
 * A run of another repository counts as alive while its record says `running`: its own recovery looks after it. One
 * that has ended is alive again while a command such as `validate` works on it.
 */
async function isAlive(services: RecoverServices, runId: string): Promise<boolean> {
  const run = services.history.run(runId);
  if (run === undefined) return false;
  if (run.state === "running") return true;
  return isHeld(runPaths(services.env.stateDir, runId).busy, services.env.hostname);
}

async function hasSnapshot(paths: RunPaths): Promise<boolean> {
  for (const path of [paths.workspace, paths.store, paths.outbox])
    if ((await lstat(path).catch(() => undefined)) !== undefined) return true;
  return false;
}
