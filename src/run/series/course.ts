import { type Failure, failure, isTasksFault } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Invocation } from "../choice/prepare.ts";
import type { SeriesEnd, SeriesRun } from "./series.ts";
import { whyStop } from "./outcome.ts";
import { type StackTop, nextBase } from "./stack.ts";

/** A run that has ended, with the task it counts for. */
export interface EndedRun extends SeriesRun {
  readonly task: string | undefined;
}

/** How far a series has come; what its workers share. */
export interface Course {
  readonly mayBegin: () => boolean;
  readonly stopped: () => boolean;
  /** Takes one of the runs that were asked for; returns which, from 1. */
  readonly begin: () => number;
  /** A run was created; runs are listed in this order. */
  readonly created: (runId: string) => void;
  readonly ended: (run: EndedRun, outcome: Result<void, Failure>) => void;
  /** No further run begins; the first reason stays. */
  readonly stop: (why: string) => void;
  /** Nothing was left for a worker to do. */
  readonly ranOut: (because: Failure) => void;
  readonly stack: () => StackTop;
  /** Tasks that were tried here without success, each with why they are not offered again. */
  readonly tried: () => ReadonlyMap<string, string>;
  readonly failuresInARow: () => number;
  readonly end: () => Result<SeriesEnd, Failure>;
}

/** Ctrl-C came before the first run. */
const NOTHING_BEGUN = failure("interrupted", "The series was interrupted before a run began.", {
  cure: "Nothing was created; run `guardloop run` again.",
});

export function newCourse({ shape, settings, head }: Invocation): Course {
  const rules = settings.run;
  const order: string[] = [];
  const ended: SeriesRun[] = [];
  const tried = new Map<string, string>();
  let begun = 0;
  let failures = 0;
  let failuresInARow = 0;
  let why: string | undefined;
  let nothingLeft: Failure | undefined;
  let first: SeriesEnd["failure"];
  let stack: StackTop = { base: head.commit, parentRun: null };
  const stop = (reason: string): void => {
    why ??= reason;
  };
  const failed = (runId: string, because: Failure): void => {
    first ??= { runId, failure: because };
    failures += 1;
    failuresInARow += 1;
    if (rules.maxFailures > 0 && failures >= rules.maxFailures)
      stop(
        failures === 1
          ? "A run failed (--max-failures 1)."
          : `${failures} runs failed, as many as --max-failures allows.`,
      );
  };
  return {
    mayBegin: () => why === undefined && begun < shape.most,
    stopped: () => why !== undefined,
    begin: () => (begun += 1),
    created: (runId) => void order.push(runId),
    ended(run, outcome) {
      const { runId, result, task } = run;
      ended.push({ runId, result });
      if (outcome.ok) failuresInARow = 0;
      else failed(runId, outcome.error);
      const inVain = whyInVain(run, outcome);
      if (task !== undefined && inVain !== undefined) tried.set(task, inVain);
      if (result.ok && shape.kind === "stacked") stack = nextBase(result.value, stack);
      const stops = rules.onFailure === "stop" && shape.kind !== "attempts";
      const reason = stops ? whyStop(result, outcome) : undefined;
      if (reason !== undefined) stop(reason);
    },
    stop,
    ranOut: (because) => void (nothingLeft ??= because),
    stack: () => stack,
    tried: () => tried,
    failuresInARow: () => failuresInARow,
    end() {
      if (order.length === 0) return err(nothingLeft ?? NOTHING_BEGUN);
      const runs = ended.toSorted((a, b) => order.indexOf(a.runId) - order.indexOf(b.runId));
      const newest = order.at(-1);
      // The end of the plan is a good one; a full disk is a failure that no run is to blame for.
      if (nothingLeft !== undefined && newest !== undefined && !isPlansEnd(nothingLeft))
        first ??= { runId: newest, failure: nothingLeft };
      const last = nothingLeft === undefined ? asMany(shape) : workedOff(nothingLeft, tried);
      return ok({ runs, failure: first, why: why ?? last });
    },
  };
}

/** Why the run's task is not offered again in this series; undefined where the task has nothing to do with it. */
function whyInVain(
  { runId, result }: EndedRun,
  outcome: Result<void, Failure>,
): string | undefined {
  // A result that failed afterwards, in its validation or on its way to land, would be made again.
  if (!outcome.ok)
    return result.ok || isTasksFault(outcome.error.code)
      ? `failed in run ${runId} just now`
      : undefined;
  const stuck = result.ok && result.value.reviewed?.progress === "none";
  return stuck ? `made no progress in run ${runId} just now` : undefined;
}

function asMany({ kind, most }: Invocation["shape"]): string {
  const noun = kind === "attempts" ? "attempt" : "task";
  return most === 1 ? `One ${noun} was asked for.` : `${most} ${noun}s were asked for.`;
}

function workedOff(because: Failure, tried: ReadonlyMap<string, string>): string {
  if (!isPlansEnd(because)) return because.message;
  if (tried.size > 0)
    return `Nothing else can be run now: ${[...tried.keys()].join(", ")} failed or made no progress here.`;
  return `The plan is worked off: ${because.message}`;
}

function isPlansEnd({ code }: Failure): boolean {
  return code === "no-runnable-task" || code === "tasks-claimed";
}
