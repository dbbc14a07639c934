import { describe, expect, test } from "vitest";
import { completion } from "../../src/run/container/completion.ts";

const TICK_MS = 250;
const LIMIT_MS = 60_000;

/** Ticks as a timer does; returns what is over at the end. */
function tickFor(done: ReturnType<typeof completion>, fromMs: number, lengthMs: number) {
  let over: ReturnType<typeof done.tick>;
  for (let now = fromMs; now <= fromMs + lengthMs; now += TICK_MS) over = done.tick(now);
  return over;
}

describe("the completion clock", () => {
  test("does not run while there is no sign that the agent is done", () => {
    expect(tickFor(completion(LIMIT_MS), 0, 10 * LIMIT_MS)).toBeUndefined();
  });

  test("is over when an agent that said it is done has not ended, whatever its programs print", () => {
    const done = completion(LIMIT_MS);
    done.saidDone(0);
    expect(tickFor(done, 0, LIMIT_MS / 2)).toBeUndefined();
    done.sawOutput(LIMIT_MS / 2);
    done.saidDone(LIMIT_MS / 2);
    expect(tickFor(done, LIMIT_MS / 2, LIMIT_MS)).toBe("said");
  });

  test("begins anew for an agent that does more after all", () => {
    const done = completion(LIMIT_MS);
    done.saidDone(0);
    tickFor(done, 0, LIMIT_MS / 2);
    done.didMore();
    expect(tickFor(done, LIMIT_MS / 2, 2 * LIMIT_MS)).toBeUndefined();
  });

  test("waits for silence where only the files say that the agent is done", () => {
    const done = completion(LIMIT_MS);
    done.artifactsAre("complete", 0);
    tickFor(done, 0, LIMIT_MS / 2);
    done.sawOutput(LIMIT_MS / 2);
    expect(tickFor(done, LIMIT_MS / 2, LIMIT_MS)).toBeUndefined();
    expect(tickFor(done, 1.5 * LIMIT_MS, TICK_MS)).toBe("artifacts");
  });

  test("begins anew when a file changes, and stops when one goes away", () => {
    const done = completion(LIMIT_MS);
    done.artifactsAre("complete", 0);
    tickFor(done, 0, LIMIT_MS);
    done.artifactsAre("changed", LIMIT_MS);
    expect(tickFor(done, LIMIT_MS, LIMIT_MS)).toBeUndefined();
    done.artifactsAre("missing", 2 * LIMIT_MS);
    expect(tickFor(done, 2 * LIMIT_MS, 2 * LIMIT_MS)).toBeUndefined();
  });

  test("leaves out a night in which the laptop slept", () => {
    const done = completion(LIMIT_MS);
    done.saidDone(0);
    tickFor(done, 0, LIMIT_MS / 2);
    const morning = 8 * 3_600_000;
    expect(tickFor(done, morning, LIMIT_MS / 4)).toBeUndefined();
    expect(tickFor(done, morning + LIMIT_MS / 4, LIMIT_MS / 2)).toBe("said");
  });

  test("of an export cannot be set back", () => {
    const done = completion(LIMIT_MS);
    done.exports(0);
    tickFor(done, 0, LIMIT_MS / 2);
    done.didMore();
    done.sawOutput(LIMIT_MS / 2);
    done.artifactsAre("missing", LIMIT_MS / 2);
    done.exports(LIMIT_MS / 2);
    expect(tickFor(done, LIMIT_MS / 2, LIMIT_MS)).toBe("export");
  });
});
