import { looked, lookedLately } from "./last-time.ts";
import { clean } from "./clean.ts";
import type { HouseItem } from "./item.ts";
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
 * Removes what may go without anybody being asked, as far as it comes in the given time; looks once an hour at most.
 * Never fails: what goes wrong is left for `guardloop gc`, which says it.
 *
 * @param signal aborts between two removals.
 * @returns undefined when there was nothing to remove.
 */
export async function tidyQuietly(
  services: HouseServices,
  signal: AbortSignal,
): Promise<Tidied | undefined> {
  try {
    const [repository] = services.repositories;
    if (repository === undefined) return undefined;
    const { stateDir } = services.env;
    const { repositoryId } = repository.principal;
    const at = { repositoryId, retention: repository.retention, now: services.now() };
    if (await lookedLately(stateDir, at)) return undefined;
    const { items } = await survey(services, signal, "any-time");
    const mayGo = items.filter(({ when }) => when === "any-time");
    const tidied = await remove(services, mayGo, signal);
    if (!signal.aborted && (tidied?.left ?? 0) === 0) await looked(stateDir, at);
    return tidied;
  } catch {
    // Whatever it is, the run that has just ended is not to blame for it.
    return undefined;
  }
}

async function remove(
  services: HouseServices,
  items: readonly HouseItem[],
  signal: AbortSignal,
): Promise<Tidied | undefined> {
  if (items.length === 0) return undefined;
  const done = await clean(services, items, signal);
  if (!done.ok) return undefined;
  const { removed, left } = done.value;
  if (removed.length === 0 && left === 0) return undefined;
  const bytes = removed.reduce((sum, { size }) => sum + (size?.bytes ?? 0), 0);
  return { count: removed.length, bytes, left };
}
