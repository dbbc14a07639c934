import { DEADLINES } from "../../core/limits.ts";
import { idleTime } from "./idle-time.ts";

/** What ended a container before its time. */
export type Clock = "wall-limit" | "idle-limit" | "interrupted";

const TICK_MS = 250;
/** The polite signal is sent again: the first may have come before the container was there. */
const REPEAT_MS = 3_000;

export interface ClockOptions {
  readonly signal: AbortSignal;
  /** Told to end the container: first politely, so that the guest exports what there is, then for good. */
  readonly onLimit: (signal: "TERM" | "KILL") => void;
}

/**
 * The wall and idle clocks of one container. They run on monotonic time, so a change of the system's clock does not
 * end a run, and the idle clock leaves out the time in which the machine slept.
 */
export function startClocks(
  limits: { readonly wallMs: number; readonly idleMs: number },
  options: ClockOptions,
) {
  const start = performance.now();
  const idle = idleTime(start);
  let reached: Clock | undefined;
  let repeat: NodeJS.Timeout | undefined;
  let hard: NodeJS.Timeout | undefined;
  const end = (clock: Clock): void => {
    if (reached !== undefined) return;
    reached = clock;
    options.onLimit("TERM");
    repeat = setInterval(() => options.onLimit("TERM"), REPEAT_MS);
    hard = setTimeout(() => options.onLimit("KILL"), DEADLINES.guestGraceMs);
  };
  const onAbort = (): void => end("interrupted");
  const ticker = setInterval(() => {
    const now = performance.now();
    const idleMs = idle.tick(now);
    if (now - start > limits.wallMs) end("wall-limit");
    else if (idleMs > limits.idleMs) end("idle-limit");
  }, TICK_MS);
  if (options.signal.aborted) onAbort();
  else options.signal.addEventListener("abort", onAbort, { once: true });
  return {
    sawOutput(): void {
      idle.sawOutput(performance.now());
    },
    reached: (): Clock | undefined => reached,
    [Symbol.dispose](): void {
      clearInterval(ticker);
      clearInterval(repeat);
      clearTimeout(hard);
      options.signal.removeEventListener("abort", onAbort);
    },
  };
}
