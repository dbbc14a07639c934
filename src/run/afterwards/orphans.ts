import { existsSync } from "node:fs";
import type { Engine } from "../../engine/port.ts";
import { isHeld } from "../../files/lock-file.ts";
import { type RunPaths, runDirectories, runPaths } from "../paths.ts";
import { removeLater } from "../house/remove-later.ts";
import { vouchedTime } from "../house/vouched-time.ts";
import { removeOrphanSockets } from "../egress/sockets.ts";
import { leaseHolder } from "../stages/lease.ts";
import type { RecoverServices, Report } from "./recovery.ts";
import { forgetMarks } from "./engine-marks.ts";
import { type ContainerGlance, glanceAtContainers } from "./glance.ts";
import { removeRemains } from "./remains.ts";

/** What belongs to no living run: found by label, by path and by holder, so it works without the database too. */
export async function removeOrphans(services: RecoverServices, report: Report): Promise<void> {
  await removeOrphanContainers(services, report);
  await returnOrphanLeases(services, report);
  await removeOrphanSnapshots(services, report);
  const isAtWork = async (runId: string): Promise<boolean> =>
    (await isAlive(services, runId)) || isSnapshotKept(services, runId);
  report.actions.push(...(await removeRemains(services, isAtWork)));
  const { env } = services;
  report.actions.push(...(await removeOrphanSockets({ env }, (id) => isAlive(services, id))));
}

/** What is left of its job is needed to get the work out of it. */
function isSnapshotKept({ history }: RecoverServices, runId: string): boolean {
  const kept = history.run(runId)?.keptSnapshot;
  return kept !== undefined && kept !== null;
}

async function removeOrphanContainers(services: RecoverServices, report: Report): Promise<void> {
  // After anything was done an earlier answer says nothing about what is there now.
  const isUntouched = report.actions.length + report.problems.length === 0;
  const seen = isUntouched ? await services.glance?.containers : undefined;
  for (const engine of services.engines) {
    const { stale, listed: containers } = isFree(engine, seen)
      ? seen
      : await glanceAtContainers(services.env, engine);
    if (!containers.ok) report.problems.push(containers.error.message);
    else if (containers.value.length === 0) await forgetMarks(services.env, engine.kind, stale);
    for (const container of containers.ok ? containers.value : []) {
      if (await isAlive(services, container.runId)) continue;
      const removed = await engine.remove(container.name);
      if (removed.ok) report.actions.push(`Removed the container ${container.name}.`);
      else report.problems.push(removed.error.message);
    }
  }
}

function isFree({ kind }: Engine, seen: ContainerGlance | undefined): seen is ContainerGlance {
  return seen?.kind === kind && seen.listed.ok && seen.listed.value.length === 0;
}

async function returnOrphanLeases(services: RecoverServices, report: Report): Promise<void> {
  for (const pool of services.pools) {
    await pool.tidy();
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
  const now = vouchedTime(services.history, services.now()).getTime();
  for (const runId of await runDirectories(services.env.stateDir)) {
    const paths = runPaths(services.env.stateDir, runId);
    if (!hasSnapshot(paths) || (await isAlive(services, runId))) continue;
    const run = services.history.run(runId);
    if (run === undefined)
      report.problems.push(
        `${paths.root} holds a snapshot of another repository's run that the history does not know: run \`guardloop recover\` there.`,
      );
    else if (run.keptSnapshot === null || Date.parse(run.keptSnapshot.until) < now) {
      await removeLater(services, [paths.overlayWork, paths.workspace, paths.store, paths.outbox]);
      if (run.keptSnapshot !== null) services.history.append(runId, { type: "snapshot-removed" });
      report.actions.push(`Removed the left-over snapshot of run ${runId}.`);
    }
  }
}

/**
 * A run of another repository counts as alive while its record says `running`: its own recovery looks after it. One
 * that has ended is alive again while a command such as `validate` works on it, and one that the history does not
 * know is while a process holds its lock.
 */
async function isAlive(services: RecoverServices, runId: string): Promise<boolean> {
  const run = services.history.run(runId);
  if (run?.state === "running") return true;
  return isHeld(runPaths(services.env.stateDir, runId).busy, services.env.hostname);
}

/** Asked for every run there ever was, so it does not wait for each answer. */
function hasSnapshot(paths: RunPaths): boolean {
  return [paths.workspace, paths.overlayWork, paths.store, paths.outbox].some(existsSync);
}
