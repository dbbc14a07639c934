import { clean } from "./clean.ts";
import type { HouseServices } from "./services.ts";
import { survey } from "./survey.ts";

/** What automatic retention did. */
export interface Tidied {
  readonly count: number;
  readonly bytes: number;
  /** What was left for the next time, since the time was up. */
  readonly left: number;
}

/**
 * Removes what may go without anybody being asked, as far as it comes in the given time. Never fails: what goes wrong
 * is left for `guardloop gc`, which says it.
 *
 * @param signal aborts between two removals.
 * @returns undefined when there was nothing to remove.
 */
export async function tidyQuietly(
  services: HouseServices,
  signal: AbortSignal,
): Promise<Tidied | undefined> {
  try {
    const { items } = await survey(services, signal, "any-time");
    const mayGo = items.filter(({ when }) => when === "any-time");
    if (mayGo.length === 0) return undefined;
    const done = await clean(services, mayGo, signal);
    if (!done.ok) return undefined;
    const { removed, left } = done.value;
    if (removed.length === 0 && left === 0) return undefined;
    const bytes = removed.reduce((sum, { size }) => sum + (size?.bytes ?? 0), 0);
    return { count: removed.length, bytes, left };
  } catch {
    // Whatever it is, the run that has just ended is not to blame for it.
    return undefined;
  }
}
