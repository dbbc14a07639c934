import type { StageName } from "../../core/stage-name.ts";
import type { Progress } from "../../run/services.ts";
import { type Activity, NO_ACTIVITY, withEvent } from "../../run/watching/activity.ts";
import { duration } from "./duration.ts";
import type { LiveLines } from "./live-lines.ts";
import type { Output } from "./output.ts";
import { type Labels, humanProgress } from "./progress.ts";
import { type RunLabels, runLabels } from "./run-labels.ts";
import { actionLine, tokenText } from "./run-view.ts";
import { type Segment, dim } from "./text.ts";

/** What goes on in one run right now. */
interface Now {
  readonly stage: StageName;
  readonly sinceMs: number;
  readonly activity: Activity;
}

export interface ProgressView extends Disposable {
  readonly report: (progress: Progress) => void;
}

const REDRAW_MS = 1_000;
/** A stage that is over in a moment is not worth a line that comes and goes. */
const QUICK_MS = 500;

/** The lines of `humanProgress`, and on a terminal what goes on now underneath them, drawn in place. */
export function liveProgress(
  output: Output,
  now: () => Date,
  labels: Labels = "none",
): ProgressView {
  const lines = humanProgress(output, labels);
  const live = output.live("stderr");
  if (live === undefined) return { report: lines, [Symbol.dispose]: () => undefined };
  const running = new Map<string, Now>();
  const names = runLabels();
  const draw = (): void => drawRunning(live, { running, names, labels }, now().getTime());
  const ticker = setInterval(draw, REDRAW_MS);
  ticker.unref();
  return {
    report(progress): void {
      if (progress.type === "event") names.learn(progress.stored);
      note(running, progress, now());
      // What is over is erased before the line that says so is written.
      if (progress.type === "event" && running.size === 0) live.erase();
      else if (progress.type === "event" && labels === "every-line") draw();
      lines(progress);
      if (progress.type === "agent-event") draw();
    },
    [Symbol.dispose](): void {
      clearInterval(ticker);
      live.erase();
    },
  };
}

function note(running: Map<string, Now>, progress: Progress, now: Date): void {
  if (progress.type === "agent-event") {
    const { runId, at, event } = progress;
    const before = running.get(runId);
    if (before !== undefined)
      running.set(runId, { ...before, activity: withEvent(before.activity, at, event) });
    return;
  }
  if (progress.type !== "event") return;
  const { runId, event } = progress.stored;
  if (event.type === "stage-intent")
    running.set(runId, { stage: event.stage, sinceMs: now.getTime(), activity: NO_ACTIVITY });
  else if (event.type === "stage-done" || event.type === "stage-failed") running.delete(runId);
}

function drawRunning(
  live: LiveLines,
  at: {
    readonly running: ReadonlyMap<string, Now>;
    readonly names: RunLabels;
    readonly labels: Labels;
  },
  nowMs: number,
): void {
  const { running, names, labels } = at;
  const drawn = [...running].filter(([, { sinceMs }]) => nowMs - sinceMs >= QUICK_MS);
  if (drawn.length === 0) live.erase();
  else if (labels === "none" && running.size === 1)
    live.draw(drawn.flatMap(([, one]) => linesFor(one, nowMs)));
  else live.draw(drawn.map(([runId, one]) => lineFor(one, nowMs, names.of(runId))));
}

function linesFor(now: Now, nowMs: number): readonly (readonly Segment[])[] {
  const { stage, sinceMs, activity } = now;
  const tokens = activity.tokens === null ? "" : `  tokens ${tokenText(activity.tokens)}`;
  const head = dim(`  ${stage.padEnd(10)}${duration(nowMs - sinceMs).padStart(16)}${tokens}`);
  const last = activity.actions.at(-1);
  return last === undefined ? [[head]] : [[head], actionLine(last)];
}

/** One line a run, where several go on: which, where it is, and what its agent did last. */
function lineFor({ stage, sinceMs, activity }: Now, nowMs: number, label: string) {
  const head = `  ${label.padEnd(8)} ${stage.padEnd(10)}${duration(nowMs - sinceMs).padStart(10)}`;
  const last = activity.actions.at(-1);
  return last === undefined ? [dim(head)] : [dim(`${head}  `), last.text];
}
