import type { DecisionIntent, RollbackWay } from "../../core/events.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { commitsBetween } from "../../git/change-facts.ts";
import { fastForward, isAncestor, refuseLoss, resetKeeping } from "../../git/land.ts";
import { createRef, readRef } from "../../git/publish.ts";
import { commitToMove } from "./checkout.ts";
import {
  type Decision,
  type DecisionServices,
  type PublishedRun,
  checkState,
  recordDecision,
  rolledBackRef,
} from "./decision.ts";
import { journalled } from "./journal.ts";
import { withQuarantine } from "./landing.ts";
import { whileDeciding } from "./repository-lock.ts";
import { makeReverts } from "./reverts.ts";
import { settledIntent } from "./settle.ts";

export interface RollbackRequest extends Decision {
  /** `reset` goes back, and refuses where something came after; `revert` makes new commits that undo it. */
  readonly how: RollbackWay;
}

export interface Rollback {
  readonly how: RollbackWay;
  readonly before: string;
  readonly after: string;
}

/** Later commits that a refusal shows. */
const SHOWN_COMMITS = 20;

/**
 * Undoes exactly one promotion, by one move of the branch. The agent branch stays, so nothing is lost; work that came
 * after the promotion is never undone with it.
 */
export async function rollback(
  services: DecisionServices,
  request: RollbackRequest,
): Promise<Result<Rollback, Failure>> {
  return whileDeciding(services, async (settled) => {
    const late = settledIntent(settled, request.run.id, "rollback-intent");
    if (late !== undefined) {
      const { how, before, after } = late;
      return ok({ how, before, after });
    }
    const checked = checkState(services, request.run, "rolled-back");
    if (!checked.ok) return checked;
    const run = checked.value;
    const { promotion } = run;
    if (promotion === null) return fail("not-in-this-state", `Run ${run.id} was never promoted.`);
    const head = await commitToMove(services.principal, {
      branch: run.onto,
      refusal: "rollback-refused",
      why: `the promotion was on ${run.onto}`,
    });
    if (!head.ok) return head;
    const kept = await keepWork(services, { run, landed: promotion.after, by: request.by });
    if (!kept.ok) return kept;
    return undo(services, request, { run, promotion, head: head.value });
  });
}

/**
 * Sees to it that a ref leads to the work before the branch goes back: the agent branch, which comes back where it was
 * pruned or deleted, or a ref of our own to what landed, where the commits of the agent branch are gone.
 */
async function keepWork(
  services: DecisionServices,
  { run, landed, by }: { readonly run: PublishedRun; readonly landed: string; readonly by: string },
): Promise<Result<void, Failure>> {
  const { git } = services.principal;
  const ref = `refs/heads/${run.branch}`;
  const there = await readRef(git, ref);
  if (there === run.head) return ok(undefined);
  if (there === undefined && (await createRef(git, ref, run.head)).ok) {
    recordDecision(services, run, { type: "branch-returned", by });
    return ok(undefined);
  }
  return createRef(git, rolledBackRef(run.id, landed), landed);
}

interface At {
  readonly run: PublishedRun;
  readonly promotion: { readonly before: string; readonly after: string };
  readonly head: string;
}

async function undo(
  services: DecisionServices,
  request: RollbackRequest,
  at: At,
): Promise<Result<Rollback, Failure>> {
  const { promotion, head, run } = at;
  // Gone back already, by hand: only the record is put right.
  if (head === promotion.before) return onRecord(services, request, { how: "reset", head });
  if (!(await isAncestor(services.principal, promotion.after, head)))
    return fail(
      "rollback-refused",
      `${run.onto} does not contain the promoted commit ${promotion.after.slice(0, 12)} any more.`,
    );
  if (request.how === "revert") return byRevert(services, request, at);
  if (head !== promotion.after) return refuseLaterWork(services, at);
  const free = await refuseLoss(services.principal, promotion.before);
  if (!free.ok) return free;
  const move = { how: "reset" as const, before: head, after: promotion.before };
  const act = () =>
    resetKeeping(services.principal, { from: head, to: promotion.before, branch: run.onto });
  return make(services, request, { move, act });
}

/** The revert commits are made in a quarantine, so the branch takes all of them in one step or none. */
async function byRevert(
  services: DecisionServices,
  request: RollbackRequest,
  at: At,
): Promise<Result<Rollback, Failure>> {
  const { principal } = services;
  const { run, promotion, head } = at;
  return withQuarantine(services, run.id, async (quarantine) => {
    const reverted = await makeReverts(services, quarantine, { run, promotion, head });
    if (!reverted.ok) return reverted;
    const after = reverted.value;
    if (after === head) return onRecord(services, request, { how: "revert", head });
    const free = await refuseLoss(principal, after);
    if (!free.ok) return free;
    const move = { how: "revert" as const, before: head, after };
    const way = { from: head, to: after, branch: run.onto, refusal: "rollback-refused" as const };
    return make(services, request, { move, act: () => fastForward(principal, way) });
  });
}

async function make(
  services: DecisionServices,
  { run, by, why }: RollbackRequest,
  at: { readonly move: Rollback; readonly act: () => Promise<Result<void, Failure>> },
): Promise<Result<Rollback, Failure>> {
  const intent: DecisionIntent = { type: "rollback-intent", ...at.move, by, why };
  const moved = await journalled(services, { run, intent }, at.act);
  return moved.ok ? ok(at.move) : moved;
}

/** Nothing is left to undo: the person did it, and only the record has to say so. */
function onRecord(
  services: DecisionServices,
  { run, by, why }: RollbackRequest,
  { how, head }: { readonly how: RollbackWay; readonly head: string },
): Result<Rollback, Failure> {
  const done: Rollback = { how, before: head, after: head };
  recordDecision(services, run, { type: "run-rolled-back", ...done, by, why });
  return ok(done);
}

async function refuseLaterWork(
  services: DecisionServices,
  { run, promotion, head }: At,
): Promise<Result<never, Failure>> {
  const later = await commitsBetween(services.principal.git, promotion.after, head);
  if (!later.ok) return later;
  const count = later.value.length;
  const lines = later.value
    .toReversed()
    .slice(0, SHOWN_COMMITS)
    .map(({ commit, subject }) => `${commit.slice(0, 12)} ${subject}`);
  const more = count - SHOWN_COMMITS;
  return fail(
    "rollback-refused",
    `Going back would lose ${count === 1 ? "a commit that" : `${count} commits that`} came to ${run.onto} after the promotion.`,
    {
      details: more > 0 ? [...lines, `… and ${more} more`] : lines,
      cure: `Keep them and undo the promotion by revert commits: guardloop rollback ${run.id} --revert`,
    },
  );
}
