import { setTimeout as delay } from "node:timers/promises";
import { errnoOf } from "../../core/errno.ts";
import type { Failure } from "../../core/failures.ts";
import { newRunId } from "../../core/ids.ts";
import type { StoredEvent } from "../../core/events.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { ownerOf } from "../../process/owner.ts";
import { whileBusy } from "../afterwards/busy.ts";
import { livingClaims } from "../choice/claims.ts";
import { allClaimed } from "../choice/offer.ts";
import { type Invocation, type RunChoice, makeSpec } from "../choice/prepare.ts";
import { taskOf } from "../choice/track-record.ts";
import type { Stop } from "../drive.ts";
import { type FinishedRun, runFlow } from "../flow.ts";
import { refuseDiskLow } from "../house/disk-floor.ts";
import { roomFromTrash } from "../house/remove-later.ts";
import { runPaths } from "../paths.ts";
import { envFiles } from "../review/secrets-in-use.ts";
import { runCreated } from "../run-created.ts";
import type { RunServices } from "../services.ts";
import { type Candidates, claimsOf } from "./candidates.ts";
import type { EndedRun } from "./course.ts";
import type { Series } from "./series.ts";

export type OneRun =
  | ({ readonly kind: "ended" } & EndedRun)
  /** Nothing was created, because there is nothing that it could do. */
  | { readonly kind: "refused"; readonly failure: Failure }
  /** Nothing was created, because the series has ended meanwhile. */
  | { readonly kind: "stopped" };

/** To hold the lock of a new run; who is in the way is gone in a moment. */
const MOST_ATTEMPTS = 50;
const ATTEMPT_PAUSE_MS = 20;

interface Opening {
  readonly turn: number;
  readonly runId: string;
  readonly candidates: Candidates;
  readonly invocation: Invocation;
}

/**
 * Creates a run with what is free of the candidates, and brings it to its end.
 *
 * @param turn which run of the series it is, from 1.
 */
export async function oneRun(series: Series, turn: number): Promise<OneRun> {
  const { services } = series;
  const envFilesAtStart = envFiles(services);
  // Where nothing is created nobody waits for it.
  envFilesAtStart.catch(() => undefined);
  const places = { stateDir: services.env.stateDir, principal: series.invocation.principal };
  const floorBytes = series.invocation.settings.disk.freeFloorBytes;
  const room = await refuseDiskLow(places, floorBytes, () => roomFromTrash(services));
  if (!room.ok) return { kind: "refused", failure: room.error };
  const possible = await series.candidates();
  if (!possible.ok) return { kind: "refused", failure: possible.error };
  const { group } = possible.value;
  const invocation = group === undefined ? series.invocation : forAttempt(series.invocation, turn);
  const runId = group !== undefined && turn === 1 ? group : newRunId(invocation.now());
  const run: RunServices = {
    ...services,
    adapter: invocation.adapter,
    envFilesAtStart,
    paths: runPaths(services.env.stateDir, runId),
  };
  const opening: Opening = { turn, runId, invocation, candidates: possible.value };
  const ended = await inDirectory(run, runId, () => createAndRun(series, run, opening));
  // A directory without a run would be one more thing for `recover` to find.
  if (ended.kind !== "ended") await removeTree(run.paths.root);
  return ended;
}

/**
 * Acts with the run's directory made and its lock held, by which a recovery that has no history knows that the run is
 * alive. Until it is held, the recovery of another invocation may take the empty directory away: then it is made again.
 */
async function inDirectory(
  run: RunServices,
  runId: string,
  act: () => Promise<OneRun>,
): Promise<OneRun> {
  let begun = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await ensurePrivateDirectory(run.paths.root);
      const held = await whileBusy(run, runId, async () => {
        begun = true;
        return ok(await act());
      });
      if (held.ok) return held.value;
      if (attempt === MOST_ATTEMPTS) return { kind: "refused", failure: held.error };
    } catch (error) {
      if (begun || attempt === MOST_ATTEMPTS || errnoOf(error) !== "ENOENT") throw error;
    }
    await delay(ATTEMPT_PAUSE_MS);
  }
}

async function createAndRun(series: Series, run: RunServices, opening: Opening): Promise<OneRun> {
  const { course, services } = series;
  const { runId } = opening;
  // From here to the created run nothing waits: no other worker can stop the series in between.
  if (course.stopped() || services.signal.aborted) return { kind: "stopped" };
  const created = create(services.history, run, opening);
  if (!created.ok) return { kind: "refused", failure: created.error };
  course.created(runId);
  run.report({ type: "event", stored: created.value.stored });
  const result: Result<FinishedRun, Stop> = await runFlow(run, created.value.spec);
  const record = services.history.run(runId);
  return { kind: "ended", runId, result, task: record && taskOf(record) };
}

/**
 * Gives the run its tasks, freezes its spec and writes its first event, all in one transaction: of two invocations
 * that want the same task, one gets it.
 */
function create(
  history: RunServices["history"],
  services: RunServices,
  { turn, runId, candidates, invocation }: Opening,
): Result<{ readonly spec: RunSpec; readonly stored: StoredEvent }, Failure> {
  return history.exclusively(() => {
    const { tasks, give, group, base, parentRun, planHash } = candidates;
    const claimed = livingClaims(history, {
      ...claimsOf(services, invocation),
      ownGroup: group,
    });
    const free = tasks.filter((task) => !claimed.has(task.id));
    if (free.length === 0) return err(allClaimed(tasks, claimed));
    const choice: RunChoice = {
      runId,
      startedAt: invocation.now().toISOString(),
      base,
      parentRun,
      planHash,
      offered: give === "one" ? free.slice(0, 1) : free,
      ...(group === undefined
        ? {}
        : { attempt: { group, number: turn, of: invocation.shape.most } }),
    };
    const spec = makeSpec(invocation, choice);
    if (!spec.ok) return spec;
    const owner = ownerOf(process.pid, services.env.hostname);
    const stored = history.append(runId, runCreated(spec.value, owner));
    return ok({ spec: spec.value, stored });
  });
}

/** The agents take turns over the attempts. */
function forAttempt(invocation: Invocation, turn: number): Invocation {
  const agent = invocation.agents[(turn - 1) % Math.max(1, invocation.agents.length)];
  if (agent === undefined) return invocation;
  const settings = { ...invocation.settings, agent: agent.settings };
  return { ...invocation, adapter: agent.adapter, settings };
}
