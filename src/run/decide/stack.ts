import type { RunRecord } from "../../core/run-record.ts";
import type { History } from "../../history/port.ts";

/** The runs that must land before this one, the lowest first; ends at one that has landed or is not ready. */
export function parentsToPromote(history: History, run: RunRecord): readonly RunRecord[] {
  const parents: RunRecord[] = [];
  let next = run.parentRun;
  while (next !== null) {
    const parent = history.run(next);
    if (parent === undefined || parent.state !== "ready") break;
    parents.unshift(parent);
    next = parent.parentRun;
  }
  return parents;
}

/** Ready runs that build on this one, directly or through others: they cannot land without it. */
export function runsOnTop(history: History, run: RunRecord): readonly RunRecord[] {
  const ready = history.runsInState(["ready"], run.repositoryId);
  const found = new Set([run.id]);
  // Newest first, so a parent comes after its children: walk from the oldest.
  for (const one of ready.toReversed())
    if (one.parentRun !== null && found.has(one.parentRun)) found.add(one.id);
  return ready.filter((one) => one.id !== run.id && found.has(one.id)).toReversed();
}
