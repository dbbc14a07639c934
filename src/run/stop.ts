import { setTimeout as delay } from "node:timers/promises";
import type { HostEnvironment } from "../core/environment.ts";
import type { StoredEvent } from "../core/events.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { RunRecord } from "../core/run-record.ts";
import type { History } from "../history/port.ts";
import { type Signalled, mayBeAlive, signalOwner } from "../process/owner.ts";
import { endProcess } from "./end-process.ts";
import { runPaths } from "./paths.ts";
import {
  STOP_SIGNAL,
  type StopRequest,
  withdrawStopRequest,
  writeStopRequest,
} from "./stop-request.ts";

const POLL_MS = 200;

export interface StopServices {
  readonly env: HostEnvironment;
  readonly history: History;
  readonly now: () => Date;
  /** Aborted when the person who waits loses patience; the run goes on ending. */
  readonly signal: AbortSignal;
}

export interface StopOrder {
  readonly run: RunRecord;
  readonly how: StopRequest["how"];
}

/** The running runs of the same process: they end together. The run itself is among them. */
export function runsOfOwner(history: History, { owner }: RunRecord): readonly RunRecord[] {
  return history
    .runsInState(["running"])
    .filter(
      (run) =>
        run.owner.pid === owner.pid &&
        run.owner.startTime === owner.startTime &&
        run.owner.bootId === owner.bootId &&
        run.owner.host === owner.host,
    );
}

/** Tells the owner of a running run to end. Who asked is on disk before, so that the run can say it. */
export async function tellToStop(
  services: StopServices,
  { run, how }: StopOrder,
): Promise<Result<void, Failure>> {
  const { env, history, now } = services;
  const all = runsOfOwner(history, run).map((one) => runPaths(env.stateDir, one.id));
  const request: StopRequest = { version: 1, by: env.user, at: now().toISOString(), how };
  for (const paths of all) await writeStopRequest(paths, request);
  const signalled =
    how === "in-order"
      ? signalOwner(run.owner, env.hostname, STOP_SIGNAL)
      : await endAtOnce(run, env.hostname);
  if (signalled === "sent") return ok(undefined);
  // What was asked stands: whenever the process goes at last, recovery says who ended it.
  if (signalled === "survived") return refuseSurvived(run);
  for (const paths of all) await withdrawStopRequest(paths);
  return refuseUnreached(run, signalled);
}

async function endAtOnce(run: RunRecord, host: string): Promise<Signalled | "survived"> {
  return endProcess({
    signal: (name) => signalOwner(run.owner, host, name),
    isAlive: () => mayBeAlive(run.owner, host),
  });
}

function refuseSurvived({ id, owner }: RunRecord): Result<never, Failure> {
  return fail(
    "still-ending",
    `Process ${owner.pid} of run ${id} was killed and is still there: the kernel waits for something on its behalf, most likely a disk or a network file system that does not answer.`,
    { cure: "See to that disk, or restart the machine; then run `guardloop recover`." },
  );
}

/** Says why an owner cannot be told anything. */
export function refuseUnreached(
  { id, owner }: RunRecord,
  why: Exclude<Signalled, "sent">,
): Result<never, Failure> {
  switch (why) {
    case "gone":
      return fail("owner-gone", `The process that owned run ${id} is gone, so nothing runs.`, {
        cure: "Run `guardloop recover`: it saves the work and cleans up.",
      });
    case "elsewhere":
      return fail(
        "owner-out-of-reach",
        `Run ${id} belongs to a process on the host ${owner.host}, which cannot be reached from here.`,
        { cure: `Run the command on ${owner.host}.` },
      );
    case "denied":
      return fail(
        "owner-out-of-reach",
        `Run ${id} belongs to process ${owner.pid} of another user.`,
        { cure: "Run the command as that user." },
      );
    case "unproven":
      return fail(
        "owner-out-of-reach",
        `It cannot be proven that process ${owner.pid} is the one that owns run ${id}, so it was left alone.`,
        { cure: "Press Ctrl-C in the terminal in which it runs." },
      );
  }
}

export type Waited = "ended" | "owner-gone" | "out-of-patience" | "interrupted";

/** Waits until a run's record says how it ended, telling of every event on the way. */
export async function waitForEnd(
  services: StopServices,
  run: RunRecord,
  wait: { readonly limitMs: number; readonly onEvent: (event: StoredEvent) => void },
): Promise<Waited> {
  let seen = services.history.events(run.id).at(-1)?.seq ?? 0;
  const start = performance.now();
  const tellNew = (): void => {
    for (const stored of services.history.events(run.id)) {
      if (stored.seq <= seen) continue;
      seen = stored.seq;
      wait.onEvent(stored);
    }
  };
  for (;;) {
    // Asked before the record: an owner that ends well writes its last event, then goes.
    const alive = mayBeAlive(run.owner, services.env.hostname);
    tellNew();
    if (services.history.run(run.id)?.state !== "running") return "ended";
    if (!alive) return "owner-gone";
    if (services.signal.aborted) return "interrupted";
    if (performance.now() - start > wait.limitMs) return "out-of-patience";
    await delay(POLL_MS, undefined, { signal: services.signal }).catch(() => undefined);
  }
}
