import type { ExpectedEnd } from "../../core/run-spec.ts";
import { idleTime } from "./idle-time.ts";

const BY_CERTAINTY = ["export", "said", "artifacts"] as const satisfies readonly ExpectedEnd[];

type Waiting = ReturnType<typeof idleTime>;

/**
 * How long an agent that is done has taken to end. What counts as done, from the least to the most certain:
 *
 * - `artifacts`: the files that it must leave are there, and it is silent. Output, or a change of them, begins it anew.
 * - `said`: it said so in its event stream. Only what the agent does after that takes it back, not output of a program
 *   that it left running.
 * - `export`: the guest said that the agent has ended. Nothing takes that back.
 *
 * Like the idle clock it leaves out time in which the machine slept. Times are milliseconds of one monotonic clock.
 */
export function completion(limitMs: number) {
  const waiting: { -readonly [Why in ExpectedEnd]?: Waiting | undefined } = {};
  const begin = (why: ExpectedEnd, nowMs: number): void => {
    waiting[why] ??= idleTime(nowMs);
  };
  return {
    saidDone: (nowMs: number): void => begin("said", nowMs),
    didMore(): void {
      waiting.said = undefined;
    },
    exports: (nowMs: number): void => begin("export", nowMs),
    isExporting: (): boolean => waiting.export !== undefined,
    sawOutput(nowMs: number): void {
      waiting.artifacts?.sawOutput(nowMs);
    },
    /** The time since the last tick does not count, but for an export, which waits for nobody. */
    leaveOut(nowMs: number): void {
      waiting.said?.leaveOut(nowMs);
      waiting.artifacts?.leaveOut(nowMs);
    },
    artifactsAre(state: "complete" | "changed" | "missing", nowMs: number): void {
      if (state !== "complete") waiting.artifacts = undefined;
      if (state !== "missing") begin("artifacts", nowMs);
    },
    /** Called often; what has waited too long, if anything has. */
    tick(nowMs: number): ExpectedEnd | undefined {
      // Each is told of the time, whether or not another one is over already.
      const waited = BY_CERTAINTY.map((why) => ({ why, ms: waiting[why]?.tick(nowMs) ?? 0 }));
      return waited.find(({ ms }) => ms > limitMs)?.why;
    },
  };
}
