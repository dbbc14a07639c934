import { stat } from "node:fs/promises";
import type { HostEnvironment } from "../../core/environment.ts";
import type { EgressTotals } from "../../core/egress.ts";
import { NO_EGRESS, withEntry } from "../../core/egress-totals.ts";
import type { StoredEvent } from "../../core/events.ts";
import { containerName } from "../../core/ids.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { foldRun } from "../../core/run-record.ts";
import type { EngineKind, RunSpec, StageTiming } from "../../core/run-spec.ts";
import type { ContainerStats, Engine } from "../../engine/port.ts";
import { type ChangedFiles, countChangedSince } from "../../files/changed-since.ts";
import type { History } from "../../history/port.ts";
import { mayBeAlive } from "../../process/owner.ts";
import { egressTail } from "../egress/read-egress.ts";
import { type RunPaths, runPaths } from "../paths.ts";
import { readSpec } from "../stages/spec.ts";
import { type Action, type Activity, NO_ACTIVITY, withEvent } from "./activity.ts";
import { eventTail } from "./event-tail.ts";

/** A run as it is at one moment, from its record alone: nothing of it is touched. */
export interface RunView {
  readonly run: RunRecord;
  readonly spec: RunSpec | undefined;
  readonly owner: "alive" | "gone";
  /** What happened since the last look; at the first one, all of it. */
  readonly newEvents: readonly StoredEvent[];
  readonly newActions: readonly Action[];
  readonly activity: Activity;
  /** What went through the gateway so far; undefined where there is none. */
  readonly egress: EgressTotals | undefined;
  /** The stage that goes on now. */
  readonly stage: StageTiming | undefined;
  /** While the agent works; as near as can be told from outside. */
  readonly timeLeft: { readonly wallMs: number; readonly idleMs: number } | undefined;
  readonly container: ContainerStats | undefined;
  readonly files: ChangedFiles | undefined;
}

export interface WatcherServices {
  readonly env: HostEnvironment;
  readonly history: History;
  /** The engine a run's record names. Undefined where there is none: the view then lacks what the container uses. */
  readonly engine: (kind: EngineKind) => Promise<Engine | undefined>;
  readonly now: () => Date;
}

const MEASURE_PAUSE_MS = 2_000;
const COUNT_PAUSE_MS = 3_000;
const COUNTED_ENTRIES = 50_000;
/** Stages during which a container may run, with what it is called. */
const CONTAINER_OF: Readonly<
  Partial<Record<StageTiming["stage"], "agent" | "setup" | "validate">>
> = {
  agent: "agent",
  setup: "setup",
  validate: "validate",
};

/** Watches a run of any process of this host; `look` may be called as often as one likes, until it is disposed of. */
export function runWatcher(services: WatcherServices, runId: string) {
  const paths = runPaths(services.env.stateDir, runId);
  const tail = eventTail(paths.agentEvents);
  const requests = egressTail(paths.egress);
  const container = slowly(MEASURE_PAUSE_MS, (stage: StageTiming) =>
    measure(services, runId, stage),
  );
  const files = slowly(COUNT_PAUSE_MS, (stage: StageTiming) => count(paths, stage));
  let activity = NO_ACTIVITY;
  let egress: EgressTotals | undefined;
  let seen = 0;
  const look = async (): Promise<RunView | undefined> => {
    // Asked before the record: an owner that ends well writes its last event, then goes.
    const first = services.history.run(runId);
    if (first === undefined) return undefined;
    const owner = mayBeAlive(first.owner, services.env.hostname) ? "alive" : "gone";
    const logged = await tail.more();
    const events = services.history.events(runId);
    const run = foldRun(events) ?? first;
    const before = activity.count;
    for (const { at, ...event } of logged) activity = withEvent(activity, at, event);
    const newActions =
      before === activity.count ? [] : activity.actions.slice(before - activity.count);
    for (const entry of await requests.more()) egress = withEntry(egress ?? NO_EGRESS, entry);
    const newEvents = events.filter((stored) => stored.seq > seen);
    seen = events.at(-1)?.seq ?? seen;
    const stage = run.stages.findLast((timing) => timing.outcome === "running");
    const spec = await readSpec(paths);
    const known = spec.ok ? spec.value : undefined;
    return {
      run,
      spec: known,
      owner,
      newEvents,
      newActions,
      activity,
      egress,
      stage,
      timeLeft: await timeLeft(services, { paths, spec: known, stage }),
      container: container(stage),
      files: files(stage),
    };
  };
  return {
    look,
    async [Symbol.asyncDispose](): Promise<void> {
      await tail[Symbol.asyncDispose]();
      await requests[Symbol.asyncDispose]();
    },
  };
}

/** Idle is counted from the last byte of output; a machine that slept meanwhile shows too little. */
async function timeLeft(
  services: WatcherServices,
  at: {
    readonly paths: RunPaths;
    readonly spec: RunSpec | undefined;
    readonly stage: StageTiming | undefined;
  },
): Promise<RunView["timeLeft"]> {
  const { spec, stage } = at;
  if (spec === undefined || stage?.stage !== "agent") return undefined;
  const now = services.now().getTime();
  const started = Date.parse(stage.startedAt);
  const log = await stat(at.paths.agentLog).catch(() => undefined);
  const lastOutput = Math.max(started, log?.mtimeMs ?? 0);
  return {
    wallMs: left(spec.limits.wallMs, now - started),
    idleMs: left(spec.limits.idleMs, now - lastOutput),
  };
}

/** By a clock that was set back, no time is spent yet. */
function left(limitMs: number, spentMs: number): number {
  return Math.max(0, limitMs - Math.max(0, spentMs));
}

async function measure(
  { env, engine }: WatcherServices,
  runId: string,
  stage: StageTiming,
): Promise<ContainerStats | undefined> {
  const purpose = CONTAINER_OF[stage.stage];
  if (purpose === undefined) return undefined;
  const spec = await readSpec(runPaths(env.stateDir, runId));
  const its = spec.ok ? await engine(spec.value.engine.kind) : undefined;
  const stats = await its?.stats?.(containerName(runId, purpose));
  return stats?.ok === true ? stats.value : undefined;
}

async function count(paths: RunPaths, stage: StageTiming): Promise<ChangedFiles | undefined> {
  if (stage.stage !== "agent") return undefined;
  return countChangedSince(paths.workspace, Date.parse(stage.startedAt), COUNTED_ENTRIES);
}

/** Keeps the newest answer of something slow: asked in the background, one at a time, with a pause, for one stage. */
function slowly<T>(pauseMs: number, ask: (stage: StageTiming) => Promise<T | undefined>) {
  let answer: T | undefined;
  let of: string | undefined;
  let busy = false;
  let notBefore = 0;
  return (stage: StageTiming | undefined): T | undefined => {
    if (stage?.startedAt !== of) answer = undefined;
    of = stage?.startedAt;
    if (stage === undefined || busy || performance.now() < notBefore) return answer;
    busy = true;
    void ask(stage)
      .catch(() => undefined)
      .then((got) => {
        if (of === stage.startedAt) answer = got;
        busy = false;
        notBefore = performance.now() + pauseMs;
        return undefined;
      });
    return answer;
  };
}
