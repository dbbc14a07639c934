import type { RunRecord } from "../../core/run-record.ts";
import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import { type AgentRef, agentRefs } from "../../git/agent-refs.ts";
import { deleteRef } from "../../git/publish.ts";
import { type DecisionServices, discardedRef } from "./decision.ts";

type SettleServices = Pick<DecisionServices, "principal" | "history">;

const BY = "guardloop recover";
const WHY = "had happened before a crash";

/** Below these are the branches of agents, and what was dropped. */
export const SETTLED_REFS = ["refs/heads/agent", discardedRef("")];

/**
 * Makes up for a discard or a restore that a crash ended between its refs and its record. The branch decides: where it
 * is, the run is `ready` and our ref for what was dropped goes; where only that ref is, the run is `discarded`. No
 * branch is touched. To be called under the repository's lock. May be called again.
 *
 * @param seen those refs a moment ago, which may show that there is nothing to do.
 * @returns a sentence for each run.
 */
export async function settleDiscards(
  services: SettleServices,
  seen?: Result<readonly AgentRef[], Failure>,
): Promise<readonly string[]> {
  if (seen?.ok === true && unsettled(services, seen.value).length === 0) return [];
  const listed = await agentRefs(services.principal.git, SETTLED_REFS);
  // What Git cannot list now stays as it is until the next time.
  if (!listed.ok) return [];
  const done: string[] = [];
  for (const one of unsettled(services, listed.value))
    done.push(...(one.becomes === "ready" ? await reopen(services, one) : drop(services, one.run)));
  return done;
}

interface Unsettled {
  readonly run: RunRecord;
  readonly head: string;
  readonly isDropped: boolean;
  readonly becomes: "ready" | "discarded";
}

/** The runs whose refs say something else than their records, or more than one thing. */
function unsettled(services: SettleServices, refs: readonly AgentRef[]): readonly Unsettled[] {
  const tips = new Map(refs.map(({ ref, tip }) => [ref, tip]));
  return candidates(services, [...tips.keys()]).flatMap((run): readonly Unsettled[] => {
    const { branch, head, repositoryId } = run;
    if (branch === null || head === null || repositoryId !== services.principal.repositoryId)
      return [];
    const published = tips.get(`refs/heads/${branch}`);
    const isDropped = tips.get(discardedRef(run.id)) === head;
    if (published === head) return [{ run, head, isDropped, becomes: "ready" }];
    const isGone = published === undefined && isDropped && run.state !== "discarded";
    return isGone ? [{ run, head, isDropped, becomes: "discarded" }] : [];
  });
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
  { run: { id, state }, head, isDropped }: Unsettled,
): Promise<readonly string[]> {
  if (isDropped && !(await deleteRef(principal.git, discardedRef(id), head)).ok) return [];
  if (state === "discarded") history.append(id, { type: "run-restored", by: BY });
  return [`Run ${id} is ready: a discard or a restore of it was cut short by a crash.`];
}

function drop({ history }: SettleServices, { id }: RunRecord): readonly string[] {
  history.append(id, { type: "run-discarded", by: BY, why: WHY });
  return [`The discard of run ${id} ${WHY}; it is on record now.`];
}
