import type { History } from "../../history/port.ts";

const DAY_MS = 24 * 60 * 60_000;
/** So long after the last event the clock is believed without a doubt. */
const BELIEVED_MS = 7 * DAY_MS;
/** A clock that was wrong is mostly put right within this time. */
const SETTLED_MS = DAY_MS;

/**
 * The time by which things are removed without anybody being asked. It is the clock's, unless that is far ahead of all
 * that was ever written down: the machine may have started with a wrong clock, and what is kept for two weeks must not go
 * for it. Such a clock is believed once events of a day ago are in the history by it.
 */
export function vouchedTime(history: Pick<History, "lastEventUntil">, now: Date): Date {
  const last = history.lastEventUntil(new Date(now.getTime() - SETTLED_MS));
  if (last === undefined) return now;
  return new Date(Math.min(now.getTime(), last.getTime() + BELIEVED_MS));
}
