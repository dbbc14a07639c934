import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { isAncestor, resetKeeping, revertRange } from "../../git/land.ts";
import { refuseDirty, refuseOperationUnderWay } from "../../git/preconditions.ts";
import { type Principal, readHead } from "../../git/principal.ts";
import { createRef } from "../../git/publish.ts";
import {
  type Decision,
  type DecisionServices,
  type PublishedRun,
  checkState,
  recordDecision,
} from "./decision.ts";
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
  const before = await quietHead(principal, run.onto);
  if (!before.ok) return before;
  await returnBranch(services, run, decision.by);
  if (before.value === promotion.after) {
    const reset = await resetKeeping(principal, promotion.before);
    return reset.ok ? ok({ how: "reset", before: before.value, after: promotion.before }) : reset;
  }
  // Gone back already: the record of it was lost to a crash, or a person went back by hand.
  if (before.value === promotion.before)
    return ok({ how: "reset", before: before.value, after: before.value });
  return revertPromotion(principal, run.onto, { promotion, head: before.value });
}

/** A pruned branch comes back first: after a rollback it may be the one thing that leads to the work. */
async function returnBranch(
  services: DecisionServices,
  run: PublishedRun,
  by: string,
): Promise<void> {
  if (run.branchPruned === null) return;
  const back = await createRef(services.principal.git, `refs/heads/${run.branch}`, run.head);
  if (back.ok) recordDecision(services, run, { type: "branch-returned", by });
}

/** The commit of a clean checkout on the promotion's branch, with nothing under way. */
async function quietHead(principal: Principal, onto: string): Promise<Result<string, Failure>> {
  const quiet = await refuseOperationUnderWay(principal);
  if (!quiet.ok) return quiet;
  const clean = await refuseDirty(principal);
  if (!clean.ok) return clean;
  const head = await readHead(principal);
  if (!head.ok) return head;
  const { branch, commit } = head.value;
  if (branch === onto) return ok(commit);
  return fail(
    "rollback-refused",
    `The principal checkout is on ${branch}; the promotion was on ${onto}.`,
    { cure: `Check out ${onto} first.` },
  );
}

async function revertPromotion(
  principal: Principal,
  onto: string,
  at: {
    readonly promotion: { readonly before: string; readonly after: string };
    readonly head: string;
  },
): Promise<Result<Rollback, Failure>> {
  const { promotion, head } = at;
  if (!(await isAncestor(principal, promotion.after, head)))
    return fail(
      "rollback-refused",
      `${onto} does not contain the promoted commit ${promotion.after.slice(0, 12)} any more.`,
    );
  const reverted = await revertRange(principal, promotion);
  if (!reverted.ok) return reverted;
  const now = await readHead(principal);
  return now.ok ? ok({ how: "revert", before: head, after: now.value.commit }) : now;
}
