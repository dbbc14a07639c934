/** A tick that comes later than this was not a busy moment: the machine was suspended, or we were stopped. */
const LATE_TICK_MS = 5_000;

/**
 * How long an agent has been silent, in time in which it could have said something. Monotonic time stands still while
 * Linux is suspended; elsewhere, in a paused virtual machine, and after SIGSTOP it jumps, and a jump does not count.
 *
 * Times are milliseconds of one monotonic clock, handed in.
 */
export function idleTime(startMs: number) {
  let idleMs = 0;
  let countedUntil = startMs;
  return {
    /** Called often; what lies between two calls far apart does not count. */
    tick(nowMs: number): number {
      const step = nowMs - countedUntil;
      countedUntil = nowMs;
      if (step <= LATE_TICK_MS) idleMs += Math.max(0, step);
      return idleMs;
    },
    /** The time since the last call of anything does not count. */
    leaveOut(nowMs: number): void {
      countedUntil = nowMs;
    },
    sawOutput(nowMs: number): void {
      idleMs = 0;
      countedUntil = nowMs;
    },
  };
}
