import { describe, expect, test } from "vitest";
import { idleTime } from "../../src/run/container/idle-time.ts";

const TICK_MS = 250;
const HOUR_MS = 3_600_000;

/** Ticks as a timer does, and returns the time after the last one. */
function tickFor(clock: ReturnType<typeof idleTime>, fromMs: number, lengthMs: number): number {
  let now = fromMs;
  while (now < fromMs + lengthMs) clock.tick((now += TICK_MS));
  return now;
}

describe("the idle clock", () => {
  test("counts the time without output", () => {
    const clock = idleTime(1000);
    const now = tickFor(clock, 1000, 60_000);
    expect(clock.tick(now)).toBe(60_000);
  });

  test("begins again with every output", () => {
    const clock = idleTime(0);
    const now = tickFor(clock, 0, 60_000);
    clock.sawOutput(now + 100);
    expect(clock.tick(now + TICK_MS)).toBe(TICK_MS - 100);
  });

  test("leaves out a night in which the laptop slept, and goes on afterwards", () => {
    const clock = idleTime(0);
    const asleep = tickFor(clock, 0, 10_000);
    expect(clock.tick(asleep + 8 * HOUR_MS)).toBe(10_000);
    const now = tickFor(clock, asleep + 8 * HOUR_MS, 20_000);
    expect(clock.tick(now)).toBe(30_000);
  });

  test("counts ticks that a busy host delays", () => {
    const clock = idleTime(0);
    for (const now of [4000, 8000, 12_000]) clock.tick(now);
    expect(clock.tick(12_250)).toBe(12_250);
  });

  test("is not set back by a clock that goes backwards", () => {
    const clock = idleTime(10_000);
    clock.tick(11_000);
    expect(clock.tick(9000)).toBe(1000);
    expect(clock.tick(9500)).toBe(1500);
  });
});
