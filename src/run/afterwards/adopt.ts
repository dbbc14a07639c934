import { lstat, readdir } from "node:fs/promises";
import { agentBranch } from "../../core/ids.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { isHeld, takeLock } from "../../files/lock-file.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { readRef } from "../../git/publish.ts";
import { ownerOf } from "../../process/owner.ts";
import { discardedRef } from "../decide/decision.ts";
import { readOutbox } from "../artifacts/outbox.ts";
import { type RunPaths, runDirectories, runPaths } from "../paths.ts";
import { runCreated } from "../run-created.ts";
import type { RunServices } from "../services.ts";
import { check } from "../stages/collect.ts";
import { readImportReport } from "../stages/import.ts";
import { readSpec } from "../stages/spec.ts";

type AdoptServices = Pick<RunServices, "env" | "principal" | "history">;

/** No process: a run whose record was rebuilt has no owner that could still be alive. */
const NOBODY = { pid: 0, startTime: "", bootId: "" };

/**
 * Gives runs that the history does not know a record again, from what lies in their directories: the database was
 * lost, or a crash came between the directory and the first event. Runs of other repositories, and those a living
 * process works on, are left alone. What is known of an adopted run is where it stood, not its past decisions.
 *
 * @returns a sentence for each run.
 */
export async function adoptUnknown(services: AdoptServices): Promise<readonly string[]> {
  const { env, history } = services;
  const done: string[] = [];
  const known = new Set(history.idsWithPrefix(""));
  for (const runId of await runDirectories(env.stateDir)) {
    if (known.has(runId)) continue;
    const paths = runPaths(env.stateDir, runId);
    if (await isHeld(paths.busy, env.hostname)) continue;
    const spec = await readSpec(paths);
    if (spec.ok && spec.value.repository.id === services.principal.repositoryId)
      done.push(await adopt(services, paths, spec.value));
    else if (!spec.ok && (await removeIfBare(services, runId)))
      done.push(`Removed the empty record of run ${runId}.`);
  }
  return done;
}

/** Under the run's own lock: another invocation may be about to begin exactly this run. */
async function removeIfBare({ env, history }: AdoptServices, runId: string): Promise<boolean> {
  const paths = runPaths(env.stateDir, runId);
  if (!(await isBare(paths))) return false;
  const lock = await takeLock(paths.busy, ownerOf(process.pid, env.hostname));
  if ("heldBy" in lock) return false;
  await using held = lock;
  if (history.run(runId) !== undefined || !(await isBare(paths))) return false;
  await removeTree(paths.root);
  // Named so that the lock is seen to be held until here.
  void held;
  return true;
}

/** Whether the directory was made and nothing else had happened yet. */
async function isBare(paths: RunPaths): Promise<boolean> {
  const names = await readdir(paths.root).catch(() => [""]);
  return names.every((name) => name.startsWith("busy"));
}

async function adopt(services: AdoptServices, paths: RunPaths, spec: RunSpec): Promise<string> {
  const { runId } = spec;
  const append = services.history.append.bind(services.history, runId);
  append(runCreated(spec, { ...NOBODY, host: services.env.hostname }));
  const published = await publishedBranch(services, paths, spec);
  if (published === undefined) {
    // Written right before the container is started: with it, there may be work to salvage.
    const started = await lstat(paths.containerArgv).catch(() => undefined);
    if (started !== undefined) append({ type: "stage-intent", stage: "agent" });
    return `Run ${runId} was unknown to the history; its record was rebuilt.`;
  }
  append({ type: "task-selected", task: published.task });
  append({ type: "run-ready", branch: published.branch, head: published.head });
  if (published.where === "discarded")
    append({ type: "run-discarded", by: "guardloop recover", why: "was discarded before" });
  return `Run ${runId} was unknown to the history; its branch ${published.branch} is there.`;
}

interface Published {
  readonly task: string;
  readonly branch: string;
  readonly head: string;
  readonly where: "branch" | "discarded";
}

/** The imported branch, if a ref still holds exactly what the run's report says. */
async function publishedBranch(
  { principal }: AdoptServices,
  paths: RunPaths,
  spec: RunSpec,
): Promise<Published | undefined> {
  const report = await readImportReport(paths);
  const outbox = await readOutbox(paths.artifacts);
  const collected = outbox.ok ? check(outbox.value, spec) : outbox;
  if (report === undefined || !collected.ok) return undefined;
  const task = collected.value.taskId;
  const { branch, head } = report;
  if (branch !== agentBranch(task, spec.runId)) return undefined;
  const at = async (ref: string) => (await readRef(principal.git, ref)) === head;
  if (await at(`refs/heads/${branch}`)) return { task, branch, head, where: "branch" };
  if (await at(discardedRef(spec.runId))) return { task, branch, head, where: "discarded" };
  return undefined;
}
