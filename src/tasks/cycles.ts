/**
 * Finds tasks that wait for each other. `waitsFor` gives for every key the keys it waits for. Returns cycles,
 * each in the order of waiting; a key that merely waits for a cycle is in none. Linear time, no recursion.
 * Of cycles that share keys at least one is returned.
 */
export function findCycles(
  waitsFor: ReadonlyMap<string, readonly string[]>,
): readonly (readonly string[])[] {
  const stuck = withoutFreeKeys(waitsFor);
  const cycles: string[][] = [];
  const seen = new Set<string>();
  for (const start of stuck) {
    const walk: string[] = [];
    const placeInWalk = new Map<string, number>();
    let key: string | undefined = start;
    while (key !== undefined && !seen.has(key)) {
      seen.add(key);
      placeInWalk.set(key, walk.length);
      walk.push(key);
      key = waitsFor.get(key)?.find((next) => stuck.has(next));
    }
    const from = key === undefined ? undefined : placeInWalk.get(key);
    if (from !== undefined) cycles.push(walk.slice(from));
  }
  return cycles;
}

/** The keys left when those that wait for nothing, or only for such, are taken away. */
function withoutFreeKeys(waitsFor: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const waiting = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [key, targets] of waitsFor) {
    const inside = [...new Set(targets)].filter((target) => waitsFor.has(target));
    open.set(key, inside.length);
    for (const target of inside) {
      const list = waiting.get(target);
      if (list === undefined) waiting.set(target, [key]);
      else list.push(key);
    }
  }
  const free = [...open].filter(([, count]) => count === 0).map(([key]) => key);
  for (let key = free.pop(); key !== undefined; key = free.pop()) {
    open.delete(key);
    for (const waiter of waiting.get(key) ?? []) {
      const left = (open.get(waiter) ?? 0) - 1;
      open.set(waiter, left);
      if (left === 0) free.push(waiter);
    }
  }
  return new Set(open.keys());
}
