import type { RunRecord } from "../../core/run-record.ts";
import { agentRefs } from "../../git/agent-refs.ts";
import { deleteRef } from "../../git/publish.ts";
import { type DecisionServices, discardedRef } from "./decision.ts";

type SettleServices = Pick<DecisionServices, "principal" | "history">;

const BY = "guardloop recover";
const WHY = "had happened before a crash";

/**
 * Makes up for a discard or a restore that a crash ended between its refs and its record. The branch decides: where it
 * is, the run is `ready` and our ref for what was dropped goes; where only that ref is, the run is `discarded`. No
 * branch is touched. To be called under the repository's lock. May be called again.
 *
 * @returns a sentence for each run.
 */
export async function settleDiscards(services: SettleServices): Promise<readonly string[]> {
  const { principal } = services;
  const listed = await agentRefs(principal.git, ["refs/heads/agent", discardedRef("")]);
  // What Git cannot list now stays as it is until the next time.
  if (!listed.ok) return [];
  const tips = new Map(listed.value.map(({ ref, tip }) => [ref, tip]));
  const done: string[] = [];
  for (const run of candidates(services, [...tips.keys()])) {
    const { branch, head, repositoryId } = run;
    if (branch === null || head === null || repositoryId !== principal.repositoryId) continue;
    const published = tips.get(`refs/heads/${branch}`);
    const isDropped = tips.get(discardedRef(run.id)) === head;
    if (published === head) done.push(...(await reopen(services, run, { head, isDropped })));
    else if (published === undefined && isDropped) done.push(...drop(services, run));
  }
  return done;
}

/** Those on record as discarded, and those that have a ref as if they were: few, however long the history. */
function candidates(
  { principal, history }: SettleServices,
  refs: readonly string[],
): readonly RunRecord[] {
  const dropped = history.runsInState(["discarded"], principal.repositoryId);
  const known = new Set(dropped.map(({ id }) => discardedRef(id)));
  const others = refs
    .filter((ref) => ref.startsWith(discardedRef("")) && !known.has(ref))
    .map((ref) => history.run(ref.slice(discardedRef("").length)))
    .filter((run) => run?.state === "ready");
  return [...dropped, ...others.filter((run) => run !== undefined)];
}

async function reopen(
  { principal, history }: SettleServices,
  { id, state }: RunRecord,
  { head, isDropped }: { readonly head: string; readonly isDropped: boolean },
): Promise<readonly string[]> {
  if (isDropped && !(await deleteRef(principal.git, discardedRef(id), head)).ok) return [];
  if (state === "discarded") history.append(id, { type: "run-restored", by: BY });
  return [`Run ${id} is ready: a discard or a restore of it was cut short by a crash.`];
}

function drop({ history }: SettleServices, { id, state }: RunRecord): readonly string[] {
  if (state === "discarded") return [];
  history.append(id, { type: "run-discarded", by: BY, why: WHY });
  return [`The discard of run ${id} ${WHY}; it is on record now.`];
}
