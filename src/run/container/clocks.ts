import { DEADLINES } from "../../core/limits.ts";
import type { ExpectedEnd } from "../../core/run-spec.ts";
import { completion } from "./completion.ts";
import { idleTime } from "./idle-time.ts";

/** What ended a container before its time. */
export type Clock =
  | "wall-limit"
  | "idle-limit"
  | "completion-limit"
  | "disk-limit"
  | "budget-limit"
  | "interrupted";

const TICK_MS = 250;
/** The polite signal is sent again: the first may have come before the container was there. */
const REPEAT_MS = 3_000;

export interface ClockLimits {
  readonly wallMs: number;
  readonly idleMs: number;
  /** Without it, an agent that is done may take as long to end as the other clocks let it. */
  readonly completionMs?: number;
}

export interface ClockOptions {
  readonly signal: AbortSignal;
  /** Told to end the container: first politely, so that the guest exports what there is, then for good. */
  readonly onLimit: (signal: "TERM" | "KILL") => void;
}

/**
 * The wall, idle and completion clocks of one container. They run on monotonic time, so a change of the system's clock
 * does not end a run, and the idle and completion clocks leave out the time in which the machine slept. While the guest
 * exports, the completion clock alone counts: an agent that ended in time is not refused for the time after.
 */
export function startClocks(limits: ClockLimits, options: ClockOptions) {
  const start = performance.now();
  const idle = idleTime(start);
  const done = completion(limits.completionMs ?? Infinity);
  const hold = holding(start);
  let reached: Clock | undefined;
  let expected: ExpectedEnd | undefined;
  let repeat: NodeJS.Timeout | undefined;
  let hard: NodeJS.Timeout | undefined;
  const end = (clock: Clock, first: "TERM" | "KILL" = "TERM"): void => {
    if (reached !== undefined) return;
    reached = clock;
    options.onLimit(first);
    repeat = setInterval(() => options.onLimit("TERM"), REPEAT_MS);
    hard = setTimeout(() => options.onLimit("KILL"), DEADLINES.guestGraceMs);
  };
  const tick = (): void => {
    const now = performance.now();
    const heldMs = hold.tick(now);
    if (hold.isOn(now)) {
      idle.leaveOut(now);
      done.leaveOut(now);
    }
    const idleMs = idle.tick(now);
    const over = done.tick(now);
    const exporting = limits.completionMs !== undefined && done.isExporting();
    if (over !== undefined) {
      expected ??= over;
      // A guest that exports is past listening.
      end("completion-limit", over === "export" ? "KILL" : "TERM");
    } else if (!exporting && now - start - heldMs > limits.wallMs) end("wall-limit");
    else if (!exporting && idleMs > limits.idleMs) end("idle-limit");
  };
  const onAbort = (): void => end("interrupted");
  const ticker = setInterval(tick, TICK_MS);
  if (options.signal.aborted) onAbort();
  else options.signal.addEventListener("abort", onAbort, { once: true });
  return {
    sawOutput(): void {
      idle.sawOutput(performance.now());
      done.sawOutput(performance.now());
    },
    /** What is known of the agent's being done; see `completion`. */
    done,
    /**
     * The clocks stand still for that long from now: the agent can do nothing, and it is not its fault. Ends nothing, and
     * delays no interruption; a later call counts where it reaches further.
     */
    holdFor: (durationMs: number): void => hold.until(performance.now() + durationMs),
    /** Ends the container for a reason that is not a clock. The first reason counts. */
    end: (clock: Clock): void => end(clock),
    reached: (): Clock | undefined => reached,
    /** What the completion clock, when it is the one that was reached, had waited for. */
    expected: (): ExpectedEnd | undefined =>
      reached === "completion-limit" ? expected : undefined,
    [Symbol.dispose](): void {
      clearInterval(ticker);
      clearInterval(repeat);
      clearTimeout(hard);
      options.signal.removeEventListener("abort", onAbort);
    },
  };
}

/** How long the clocks have been held, of what is known at each tick. Milliseconds of one monotonic clock. */
function holding(startMs: number) {
  let untilMs = -Infinity;
  let countedUntil = startMs;
  let heldMs = 0;
  return {
    until(ms: number): void {
      untilMs = Math.max(untilMs, ms);
    },
    isOn: (nowMs: number): boolean => nowMs < untilMs,
    tick(nowMs: number): number {
      heldMs += Math.max(0, Math.min(nowMs, untilMs) - countedUntil);
      countedUntil = nowMs;
      return heldMs;
    },
  };
}
