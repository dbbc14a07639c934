import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Stop } from "../drive.ts";
import type { FinishedRun } from "../flow.ts";
import type { Invocation } from "../choice/prepare.ts";
import type { RunServices } from "../services.ts";
import { type Candidates, attemptsAt, nextTasks, warnOfOpenRuns } from "./candidates.ts";
import { waitAfterFailures } from "./backoff.ts";
import { type Course, newCourse } from "./course.ts";
import { oneRun } from "./one-run.ts";
import { outcomeOf } from "./outcome.ts";

/** One run of a series, as it ended. */
export interface SeriesRun {
  readonly runId: string;
  readonly result: Result<FinishedRun, Stop>;
}

export interface SeriesEnd {
  /** In the order in which they began. */
  readonly runs: readonly SeriesRun[];
  /** Why the series ended, one sentence for people. */
  readonly why: string;
  /** The first failure, which the series exits with, and the run it belongs to. */
  readonly failure: { readonly runId: string; readonly failure: Failure } | undefined;
}

/** What a series needs besides the invocation; `paths` are added for each run, and the adapter of its agent. */
export type SeriesServices = Omit<RunServices, "paths">;

export interface SeriesHooks {
  /** Called after each run that ended `ready`; used by `--promote auto`. */
  readonly onReady: (run: FinishedRun) => Promise<Result<void, Failure>>;
}

export interface Series {
  readonly services: SeriesServices;
  readonly invocation: Invocation;
  readonly hooks: SeriesHooks;
  readonly course: Course;
  /** What the next run may do; asked anew before each. */
  readonly candidates: () => Promise<Result<Candidates, Failure>>;
}

/**
 * Makes the runs of one invocation, each with a lease of its own: one after another, or as many at once as the shape
 * is wide. After the first failure (unless it keeps going) and after Ctrl-C no further run begins; those that go on
 * come to their own end.
 *
 * @returns a failure when no run could begin.
 */
export async function runSeries(
  services: SeriesServices,
  invocation: Invocation,
  hooks: SeriesHooks,
): Promise<Result<SeriesEnd, Failure>> {
  const { kind, width } = invocation.shape;
  const course = newCourse(invocation);
  const candidates =
    kind === "attempts"
      ? await attemptsAt(services, invocation)
      : ok(() => nextTasks(services, invocation, course));
  if (!candidates.ok) return candidates;
  if (kind === "stacked") {
    const first = await candidates.value();
    if (!first.ok) return first;
    warnOfOpenRuns(services, invocation, first.value.tasks);
  }
  const series: Series = { services, invocation, hooks, course, candidates: candidates.value };
  const workers = Array.from({ length: width }, () => work(series));
  // All of them, also when one meets a bug: a run that goes on must not lose its owner.
  const ended = await Promise.allSettled(workers);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  return course.end();
}

/** Takes one turn after another until the series has ended, or there is nothing more to do. */
async function work(series: Series): Promise<void> {
  const { course, services, invocation } = series;
  while (course.mayBegin()) {
    const turn = course.begin();
    if (course.failuresInARow() > 0) {
      // Looked at before the wait, so that nobody waits for a run that does not come.
      const possible = await series.candidates();
      if (!possible.ok) return course.ranOut(possible.error);
      await waitAfterFailures(services, course, invocation.settings.run);
    }
    if (services.signal.aborted) return course.stop("Interrupted.");
    const spent = services.gateway?.meter.exhausted();
    if (spent !== undefined) return course.stop(spent);
    const run = await oneRun(series, turn);
    if (run.kind === "stopped") return;
    if (run.kind === "refused") return course.ranOut(run.failure);
    const outcome = await outcomeOf(run.result, series.hooks);
    course.ended(run, outcome);
    if (services.signal.aborted) course.stop("Interrupted.");
  }
}
