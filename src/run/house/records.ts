import { errnoOf } from "../../core/errno.ts";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ARTIFACT } from "../../core/artifacts.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSummary } from "../../core/run-record.ts";
import { isHeld } from "../../files/lock-file.ts";
import { isAncestor } from "../../git/land.ts";
import type { Principal } from "../../git/principal.ts";
import { readRef } from "../../git/publish.ts";
import { discardedRef } from "../decide/decision.ts";
import { runPaths } from "../paths.ts";
import { type Survey, NOTHING, together } from "./item.ts";
import { type RecordFacts, type RecordVerdict, ageOf, judgeRecord } from "./record-verdict.ts";
import { whileNobodyWorksOn } from "./run-locks.ts";
import { type HouseRepository, type HouseServices, sizeOf } from "./services.ts";
import { throwAway } from "./trash.ts";

/**
 * The records of one repository's runs. What goes is the directory; the events stay in the history, so that the run
 * is still listed and says what became of it.
 */
export async function surveyRecords(
  services: HouseServices,
  repository: HouseRepository,
): Promise<Survey> {
  const runs = services.history.runs(repository.principal.repositoryId);
  const surveys: Survey[] = [];
  for (const run of runs) surveys.push(await surveyOne(services, repository, { run, runs }));
  return together(surveys);
}

interface Among {
  readonly run: RunSummary;
  readonly runs: readonly RunSummary[];
}

async function surveyOne(
  services: HouseServices,
  repository: HouseRepository,
  among: Among,
): Promise<Survey> {
  const { run } = among;
  const paths = runPaths(services.env.stateDir, run.id);
  // A link in its place is nothing of ours: locks would be written to where it leads.
  if ((await lstat(paths.root).catch(() => undefined))?.isDirectory() !== true) return NOTHING;
  if (await isHeld(paths.busy, services.env.hostname)) return NOTHING;
  const verdict = await judge(services, repository, among);
  if (verdict.kind === "not-yet") return NOTHING;
  const { topLevel } = repository.principal;
  const thing = { kind: "record", what: paths.root, run: run.id, repository: topLevel } as const;
  const { why } = verdict;
  if (verdict.kind === "kept") return { ...NOTHING, kept: [{ ...thing, why }] };
  const size = await sizeOf(paths.root);
  const remove = () => removeOne(services, repository, run.id);
  return { ...NOTHING, items: [{ ...thing, why, size, when: "any-time", remove }] };
}

async function judge(
  services: HouseServices,
  { principal, retention }: HouseRepository,
  among: Among,
): Promise<RecordVerdict> {
  const { recordRemoved } = among.run;
  // A crash came between the event and the removal.
  if (recordRemoved !== null)
    return { kind: "may-go", because: recordRemoved.because, why: "its removal was interrupted" };
  const at = { now: services.now(), recordDays: retention.recordDays };
  // Most runs are young, and Git need not be asked about them.
  if (ageOf(among.run, at) === "young") return { kind: "not-yet" };
  const facts = await factsOf(services, principal, among);
  return judgeRecord(facts, at);
}

async function factsOf(
  { env }: HouseServices,
  principal: Principal,
  { run, runs }: Among,
): Promise<RecordFacts> {
  const child = runs.find(
    ({ parentRun, state }) => parentRun === run.id && (state === "running" || state === "ready"),
  );
  return {
    run,
    landed: run.state === "promoted" ? await hasLanded(principal, run) : "no",
    ref: await refTo(principal, run),
    openChild: child?.id,
    patches: await patchesIn(env.stateDir, run.id),
  };
}

/** What counts is the branch as it is now. */
async function hasLanded(principal: Principal, run: RunSummary): Promise<"yes" | "no"> {
  const tip = await readRef(principal.git, `refs/heads/${run.onto}`);
  const landed = [run.promotion?.after, run.head];
  for (const commit of landed)
    if (commit !== undefined && commit !== null && tip !== undefined)
      if (await isAncestor(principal, commit, tip)) return "yes";
  return "no";
}

async function refTo({ git }: Principal, run: RunSummary): Promise<string | undefined> {
  const refs = [...(run.branch === null ? [] : [`refs/heads/${run.branch}`]), discardedRef(run.id)];
  for (const ref of refs) if ((await readRef(git, ref)) !== undefined) return ref;
  return undefined;
}

/** Where the run saved patches. What cannot be looked into counts as work. */
async function patchesIn(stateDir: string, runId: string): Promise<"some" | "none"> {
  const { artifacts, salvage } = runPaths(stateDir, runId);
  for (const directory of [artifacts, `${artifacts}.new`, salvage]) {
    const names = await readdir(join(directory, ARTIFACT.patches)).catch((error: unknown) =>
      errnoOf(error) === "ENOENT" ? [] : ["unreadable"],
    );
    if (names.length > 0) return "some";
  }
  return "none";
}

/** The event first: after a crash the directory is still there, and the next `gc` removes it. */
async function removeOne(
  services: HouseServices,
  repository: HouseRepository,
  runId: string,
): Promise<Result<"removed" | "kept", Failure>> {
  const { env, history } = services;
  const { repositoryId } = repository.principal;
  const { root } = runPaths(env.stateDir, runId);
  return whileNobodyWorksOn(env, { runId, repositoryId }, async () => {
    const runs = history.runs(repositoryId);
    const run = runs.find(({ id }) => id === runId);
    if (run === undefined) return ok("kept");
    const verdict = await judge(services, repository, { run, runs });
    if (verdict.kind !== "may-go") return ok("kept");
    const { because } = verdict;
    if (run.recordRemoved === null)
      history.append(runId, {
        type: "record-removed",
        because,
        sizeBytes: (await sizeOf(root)).bytes,
        by: env.user,
      });
    await throwAway(env.stateDir, root);
    return ok("removed");
  });
}
