import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { checkedOutIn } from "../../git/land.ts";
import { createRef, deleteRef, hasCommit, readRef } from "../../git/publish.ts";
import { commitsGone } from "../branches/gone.ts";
import {
  type Decision,
  type DecisionServices,
  checkState,
  discardedRef,
  recordDecision,
} from "./decision.ts";
import { whileDeciding } from "./repository-lock.ts";

/** Takes a run's branch out of the way. Its commits stay reachable under a ref of our own, for `restore`. */
export async function discard(
  services: DecisionServices,
  decision: Decision,
): Promise<Result<{ readonly branch: string }, Failure>> {
  return whileDeciding(services, async () => {
    const run = checkState(services, decision.run, "discarded");
    if (!run.ok) return run;
    const { git } = services.principal;
    const { branch, head, id } = run.value;
    const tip = await readRef(git, `refs/heads/${branch}`);
    if (tip !== undefined && tip !== head)
      return fail(
        "not-in-this-state",
        `The branch ${branch} has moved to ${tip.slice(0, 12)}: somebody worked on it.`,
        {
          cure: `Delete it by hand if that is meant: git branch -D ${branch}`,
        },
      );
    const busy = await checkedOutIn(services.principal, `refs/heads/${branch}`);
    if (busy !== undefined)
      return fail("not-in-this-state", `The branch ${branch} is checked out in ${busy}.`, {
        cure: "Check out another branch there first.",
      });
    // The new ref first, so that the commits are never without one.
    const kept = await createRef(git, discardedRef(id), head);
    if (!kept.ok) return kept;
    const dropped = await deleteRef(git, `refs/heads/${branch}`, head);
    if (!dropped.ok) return dropped;
    recordDecision(services, decision.run, {
      type: "run-discarded",
      by: decision.by,
      why: decision.why,
    });
    return ok({ branch });
  });
}

/** Takes a discard back, or opens a rolled-back run again: the branch is there and the run is `ready`. */
export async function restore(
  services: DecisionServices,
  decision: Decision,
): Promise<Result<{ readonly branch: string }, Failure>> {
  return whileDeciding(services, async () => {
    const run = checkState(services, decision.run, "ready");
    if (!run.ok) return run;
    const { state } = run.value;
    if (state !== "discarded" && state !== "rolled-back")
      return fail(
        "not-in-this-state",
        `Run ${run.value.id} is ${state}: there is nothing to take back.`,
      );
    const { git } = services.principal;
    const { branch, head, id, recordRemoved } = run.value;
    if (recordRemoved !== null)
      return fail(
        "record-removed",
        `The record of run ${id} was removed on ${recordRemoved.at.slice(0, 10)}, so it cannot be opened again.`,
        { cure: `Its commits may still be there: git branch NAME ${head}` },
      );
    if (!(await hasCommit(git, head))) return commitsGone(run.value);
    const back = await createRef(git, `refs/heads/${branch}`, head);
    if (!back.ok) return back;
    const dropped = await deleteRef(git, discardedRef(id), head);
    if (!dropped.ok) return dropped;
    recordDecision(services, decision.run, { type: "run-restored", by: decision.by });
    return ok({ branch });
  });
}
