import { isLimitStatus } from "../core/egress-totals.ts";
import { limitEnd } from "./limit-end.ts";
import type { LimitSeen } from "./port.ts";
import type { Sent } from "./forward.ts";

/** What the control address says about limits; the guest waits by it, with its clocks standing still. */
export interface LimitState {
  readonly version: 1;
  /** Until the limit seen last is over, from now; null where there is none, or where nobody said. */
  readonly waitMs: number | null;
  /** Whether the upstream's newest answer about a model was a limit. */
  readonly sawLimit: boolean;
}

/** Keeps the newest limit until an answer comes through again. */
export function limitWatch(now: () => Date) {
  let last: LimitSeen | undefined;
  return {
    /** @returns the limit, where the answer is one. */
    look(answer: NonNullable<Sent["answer"]>): LimitSeen | undefined {
      const { status } = answer;
      if (!isLimitStatus(status)) {
        if (status < 300) last = undefined;
        return undefined;
      }
      last = { status, until: limitEnd(answer, now()) };
      return last;
    },
    state(): LimitState {
      const until = last?.until ?? null;
      const waitMs = until === null ? null : until.getTime() - now().getTime();
      return {
        version: 1,
        waitMs: waitMs !== null && waitMs > 0 ? waitMs : null,
        sawLimit: last !== undefined,
      };
    },
  };
}
