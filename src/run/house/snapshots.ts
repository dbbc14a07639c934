import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSummary } from "../../core/run-record.ts";
import type { MeasuredSize } from "../../files/measured-size.ts";
import { isHeld } from "../../files/lock-file.ts";
import { repositoryLock } from "../decide/repository-lock.ts";
import { type RunPaths, runPaths } from "../paths.ts";
import type { Survey, Thing } from "./item.ts";
import { NOTHING, together } from "./item.ts";
import { type HouseServices, sizeOf } from "./services.ts";
import { whileNobodyWorksOn } from "./run-locks.ts";
import { throwAway } from "./trash.ts";

/** Everything of a run that is there only while it goes on, or while something is done with it. */
function passingPaths(paths: RunPaths): readonly string[] {
  const { workspace, overlayWork, store, outbox, job, quarantine, landing, artifacts, setup } =
    paths;
  const { validation } = paths;
  return [
    overlayWork,
    workspace,
    store,
    outbox,
    job,
    quarantine,
    landing,
    setup,
    validation,
    `${artifacts}.new`,
  ];
}

/** Snapshots whose days are over, and what ended runs left beside their records. */
export async function surveySnapshots(
  services: HouseServices,
  isWanted: (run: RunSummary) => boolean,
): Promise<Survey> {
  const surveys: Survey[] = [];
  for (const runId of await readdir(join(services.env.stateDir, "runs")).catch(() => [])) {
    const run = services.history.run(runId);
    if (run !== undefined && isWanted(run)) surveys.push(await surveyOne(services, run));
  }
  return together(surveys);
}

async function surveyOne(services: HouseServices, run: RunSummary): Promise<Survey> {
  const paths = runPaths(services.env.stateDir, run.id);
  // A link in its place is nothing of ours: locks would be written to where it leads.
  if ((await lstat(paths.root).catch(() => undefined))?.isDirectory() !== true) return NOTHING;
  const there = await existing(passingPaths(paths));
  if (there.length === 0) return NOTHING;
  const thing = {
    kind: "snapshot" as const,
    what: run.keptSnapshot?.path ?? paths.root,
    run: run.id,
    repository: run.topLevel,
  };
  const verdict = await judge(services, run, paths);
  if (verdict.kind === "busy") return NOTHING;
  if (verdict.kind === "kept")
    return { ...NOTHING, kept: [{ ...thing, why: verdict.why } satisfies Thing] };
  const size = await sizeOfAll(there);
  const remove = () => removeOne(services, run);
  return {
    ...NOTHING,
    items: [{ ...thing, why: verdict.why, size, when: "any-time", remove }],
  };
}

type Verdict =
  | { readonly kind: "may-go" | "kept"; readonly why: string }
  /** A living process works on the run. */
  | { readonly kind: "busy" };

async function judge(services: HouseServices, run: RunSummary, paths: RunPaths): Promise<Verdict> {
  // A promotion has its commits under the record's directory, and only the repository's lock.
  for (const lock of [paths.busy, repositoryLock(services.env, run.repositoryId)])
    if (await isHeld(lock, services.env.hostname)) return { kind: "busy" };
  return judgeSnapshot(run, services.now());
}

function judgeSnapshot(run: RunSummary, now: Date): Verdict {
  if (run.state === "running") return { kind: "busy" };
  const { keptSnapshot } = run;
  if (keptSnapshot === null) return { kind: "may-go", why: "its run has ended" };
  // Also when the time cannot be read: NaN is never in the past.
  if (Date.parse(keptSnapshot.until) <= now.getTime())
    return { kind: "may-go", why: `it was kept until ${keptSnapshot.until.slice(0, 10)}` };
  const why = `it holds work that could not be exported, kept until ${keptSnapshot.until.slice(0, 10)}`;
  return { kind: "kept", why };
}

async function removeOne(
  services: HouseServices,
  { id: runId, repositoryId }: RunSummary,
): Promise<Result<"removed" | "kept", Failure>> {
  const { env, history } = services;
  const paths = runPaths(env.stateDir, runId);
  return whileNobodyWorksOn(env, { runId, repositoryId }, async () => {
    const run = history.run(runId);
    if (run === undefined || judgeSnapshot(run, services.now()).kind !== "may-go")
      return ok("kept");
    for (const path of passingPaths(paths)) await throwAway(env.stateDir, path);
    if (run.keptSnapshot !== null) history.append(runId, { type: "snapshot-removed" });
    return ok("removed");
  });
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const stats = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)));
  return paths.filter((_, index) => stats[index] !== undefined);
}

async function sizeOfAll(paths: readonly string[]): Promise<MeasuredSize> {
  const sizes = await Promise.all(paths.map(sizeOf));
  return {
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    extent: sizes.every(({ extent }) => extent === "whole") ? "whole" : "at-least",
  };
}
