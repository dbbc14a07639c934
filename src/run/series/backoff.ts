import { setTimeout as delay } from "node:timers/promises";
import type { Settings } from "../../config/settings.ts";
import type { Course } from "./course.ts";
import type { SeriesServices } from "./series.ts";

type Waits = Pick<Settings["run"], "backoffMs" | "backoffMaxMs">;

/** How long to wait after so many failures in a row: twice as long for each further one, up to the longest. */
export function backoffMs(failures: number, { backoffMs: first, backoffMaxMs }: Waits): number {
  if (failures === 0) return 0;
  return Math.min(first * 2 ** (failures - 1), backoffMaxMs);
}

/** Waits before the next run of a series, so that what is down can come back. Ctrl-C ends the wait at once. */
export async function waitAfterFailures(
  services: SeriesServices,
  course: Course,
  waits: Waits,
): Promise<void> {
  const failures = course.failuresInARow();
  const waitMs = backoffMs(failures, waits);
  if (waitMs <= 0 || services.signal.aborted) return;
  const after = failures === 1 ? "the failure" : `${failures} failures in a row`;
  const seconds = Number((waitMs / 1000).toFixed(1));
  const text = `Waiting ${seconds} s after ${after} before the next run begins; Ctrl-C ends the series now.`;
  services.report({ type: "notice", runId: null, text });
  await delay(waitMs, undefined, { signal: services.signal }).catch(() => undefined);
}
