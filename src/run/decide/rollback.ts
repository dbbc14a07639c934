import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { isAncestor, resetKeeping, revertRange } from "../../git/land.ts";
import { refuseDirty, refuseOperationUnderWay } from "../../git/preconditions.ts";
import { readHead } from "../../git/principal.ts";
import { type Decision, type DecisionServices, checkState, recordDecision } from "./decision.ts";
import { withRepositoryLock } from "./repository-lock.ts";

export interface Rollback {
  readonly how: "reset" | "revert";
  readonly before: string;
  readonly after: string;
}

/**
 * Undoes exactly one promotion: by going back where nothing came after it, by revert commits otherwise. The agent
 * branch stays, so nothing is lost.
 */
export async function rollback(
  services: DecisionServices,
  decision: Decision,
): Promise<Result<Rollback, Failure>> {
  return withRepositoryLock(services.env, services.principal.repositoryId, async () => {
    const done = await undoPromotion(services, decision);
    if (!done.ok) return done;
    const { by, why } = decision;
    recordDecision(services, decision.run, { type: "run-rolled-back", ...done.value, by, why });
    return done;
  });
}

async function undoPromotion(
  services: DecisionServices,
  decision: Decision,
): Promise<Result<Rollback, Failure>> {
  const checked = checkState(services, decision.run, "rolled-back");
  if (!checked.ok) return checked;
  const run = checked.value;
  const { promotion } = run;
  if (promotion === null) return fail("not-in-this-state", `Run ${run.id} was never promoted.`);
  const { principal } = services;
  const quiet = await refuseOperationUnderWay(principal);
  if (!quiet.ok) return quiet;
  const clean = await refuseDirty(principal);
  if (!clean.ok) return clean;
  const head = await readHead(principal);
  if (!head.ok) return head;
  if (head.value.branch !== run.onto)
    return fail(
      "rollback-refused",
      `The principal checkout is on ${head.value.branch}; the promotion was on ${run.onto}.`,
      {
        cure: `Check out ${run.onto} first.`,
      },
    );
  const before = head.value.commit;
  if (before === promotion.after) {
    const reset = await resetKeeping(principal, promotion.before);
    return reset.ok ? ok({ how: "reset", before, after: promotion.before }) : reset;
  }
  // Gone back already: the record of it was lost to a crash, or a person went back by hand.
  if (before === promotion.before) return ok({ how: "reset", before, after: before });
  if (!(await isAncestor(principal, promotion.after, before)))
    return fail(
      "rollback-refused",
      `${run.onto} does not contain the promoted commit ${promotion.after.slice(0, 12)} any more.`,
    );
  const reverted = await revertRange(principal, promotion);
  if (!reverted.ok) return reverted;
  const now = await readHead(principal);
  return now.ok ? ok({ how: "revert", before, after: now.value.commit }) : now;
}
