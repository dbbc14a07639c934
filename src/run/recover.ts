import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { RunRecord } from "../core/run-record.ts";
import type { RunSpec } from "../core/run-spec.ts";
import type { Engine } from "../engine/port.ts";
import { removeTree } from "../files/remove-tree.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import { readRef } from "../git/publish.ts";
import { mayBeAlive } from "../process/owner.ts";
import { withRepositoryLock } from "./decide/repository-lock.ts";
import { settleDiscards } from "./decide/settle-discards.ts";
import { settle, settledText } from "./decide/settle.ts";
import { record, step } from "./drive.ts";
import type { Started } from "./flow.ts";
import { resumeRemoval } from "./house/remove-later.ts";
import { whileLocked } from "./locked.ts";
import { runDirectories, runPaths } from "./paths.ts";
import { adoptUnknown } from "./afterwards/adopt.ts";
import { type Adopted, adopt, findOrphan, goOn } from "./afterwards/adopt-container.ts";
import { removeOrphans } from "./afterwards/orphans.ts";
import type { RecoverServices, Recovery, Report } from "./afterwards/recovery.ts";
import { salvage } from "./afterwards/salvage.ts";
import type { RunServices } from "./services.ts";
import { readStopRequest, stoppedBy } from "./stop-request.ts";
import { type AgentRan, removeContainers } from "./stages/agent.ts";
import { type Collected, collectStage } from "./stages/collect.ts";
import { type Imported, importStage, readImportReport } from "./stages/import.ts";
import { releaseStage } from "./stages/release.ts";
import { reviewStage } from "./stages/review.ts";
import { settleSalvages } from "./afterwards/settle-salvages.ts";
import { readSpec } from "./stages/spec.ts";
import { validateStage } from "./stages/validate.ts";

/**
 * Finds runs of this repository whose owner is provably dead and brings each to an end: what was collected is
 * imported, everything else is salvaged and undone. Then removes what no run owns. Runs that the history does not
 * know are found by their directories, so a lost history loses no work. Calling it twice changes nothing more.
 */
export async function recover(services: RecoverServices): Promise<Recovery> {
  const directory = join(services.env.stateDir, "locks");
  await ensurePrivateDirectory(directory);
  const lock = { path: join(directory, "recover"), doing: "recovering already" };
  const done = await whileLocked(services.env, lock, async () => ok(await recoverAll(services)));
  if (!done.ok) return { actions: [], problems: [done.error.message] };
  const { adopted, ...report } = done.value;
  // Without the lock: this lasts as long as the agents work.
  await Promise.all(adopted.map((one) => goOn(one, report)));
  return report;
}

async function recoverAll(
  services: RecoverServices,
): Promise<Report & { readonly adopted: readonly Adopted[] }> {
  const actions = [...(await adoptUnknown(services))];
  const problems: string[] = [];
  const adopted: Adopted[] = [];
  const { repositoryId } = services.principal;
  for (const run of services.history.runsInState(["running"], repositoryId)) {
    if (mayBeAlive(run.owner, services.env.hostname)) continue;
    const orphan = services.orphans === "stop" ? undefined : await findOrphan(services, run);
    if (orphan !== undefined) {
      if (services.orphans === "adopt") adopted.push(adopt(orphan));
      continue;
    }
    const ended = await endDeadRun(services, run);
    if (ended.ok) actions.push(ended.value);
    else problems.push(`Run ${run.id}: ${ended.error.message}`);
  }
  await removeOrphans(services, { actions, problems });
  await settleDecisions(services, { actions, problems });
  await resumeRemoval(services);
  return { actions, problems, adopted };
}

async function endDeadRun(
  recovering: RecoverServices,
  run: RunRecord,
): Promise<Result<string, Failure>> {
  const paths = runPaths(recovering.env.stateDir, run.id);
  const spec = await readSpec(paths);
  const engine = await stopContainers(recovering, run.id, spec);
  if (!engine.ok) return engine;
  const leases = spec.ok
    ? recovering.pools.find((pool) => pool.kind === spec.value.lease)
    : recovering.pools[0];
  if (leases === undefined)
    return fail("tool-missing", "It has a lease of treehouse, which is not available now.");
  const services: RunServices = { ...recovering, engine: engine.value, paths, leases };
  const imported = spec.ok ? await finishImport(services, run, spec.value) : undefined;
  if (spec.ok && imported === undefined) await salvage(services, spec.value);
  const released = await step(services, releaseStage, {
    runId: run.id,
    spec: spec.ok ? spec.value : undefined,
  });
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
  // Published already: doing it again could only fail, and then take the branch away.
  const report = await readImportReport(services.paths);
  if (report !== undefined && (await isPublished(services, report)))
    return { ...collected.value, imported: report };
  const imported = await step(services, importStage, collected.value);
  return imported.ok ? imported.value : undefined;
}

async function isPublished(
  services: RunServices,
  { branch, head }: Imported["imported"],
): Promise<boolean> {
  return (await readRef(services.principal.git, `refs/heads/${branch}`)) === head;
}

/** Where the lock is held somebody living is deciding, and settles what is open by itself. */
async function settleDecisions(services: RecoverServices, report: Report): Promise<void> {
  const { env, principal, history } = services;
  await withRepositoryLock(env, principal.repositoryId, async () => {
    for (const one of await settle(services))
      (one.outcome === "recorded" ? report.actions : report.problems).push(settledText(one));
    const refs = await services.glance?.refs;
    report.actions.push(...(await settleDiscards(services, refs)));
    report.actions.push(...(await settleSalvages(services, refs)));
    for (const runId of await runDirectories(env.stateDir)) {
      const { landing } = runPaths(env.stateDir, runId);
      if (!existsSync(landing)) continue;
      if (history.run(runId)?.repositoryId !== principal.repositoryId) continue;
      await removeTree(landing);
      report.actions.push(`Removed what an interrupted promotion of run ${runId} left.`);
    }
    return ok(undefined);
  });
}

/** The engine that the run's record names, without the run's containers. A run without a readable record may be in any. */
async function stopContainers(
  { engines }: RecoverServices,
  runId: string,
  spec: Result<RunSpec, Failure>,
): Promise<Result<Engine, Failure>> {
  const wanted = spec.ok ? spec.value.engine.kind : undefined;
  const possible = engines.filter((engine) => wanted === undefined || engine.kind === wanted);
  const [first] = possible;
  if (first === undefined)
    return fail("engine-unavailable", `It ran in ${wanted ?? "an engine"}, which does not answer.`);
  for (const engine of possible) {
    const stopped = await removeContainers({ engine }, runId);
    if (!stopped.ok) return stopped;
  }
  return ok(first);
}
