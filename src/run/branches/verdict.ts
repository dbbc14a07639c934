import type { RunSummary } from "../../core/run-record.ts";
import type { AgentRef } from "../../git/agent-refs.ts";
import { discardedRef } from "../decide/decision.ts";

const DAY_MS = 24 * 60 * 60_000;

/** What decides whether a ref may be pruned. */
export interface BranchFacts {
  readonly ref: AgentRef;
  /** The run that published it; undefined when this repository's history has none. */
  readonly run: RunSummary | undefined;
  /** The work tree that has it checked out. */
  readonly checkedOutIn: string | undefined;
  /** Whether the branch that the run was promoted to still contains what landed. */
  readonly landed: "yes" | "no";
  /** A run that waits for a decision, or goes on, and builds on this one. */
  readonly openChild: string | undefined;
}

export type Verdict =
  | { readonly kind: "prunable"; readonly because: "landed" | "discarded"; readonly why: string }
  | { readonly kind: "kept"; readonly why: string };

/**
 * Whether a ref may be pruned: only what is provably landed or discarded, was decided long enough ago, is exactly what
 * guardloop published, and is in nobody's use.
 */
export function verdictOf(
  facts: BranchFacts,
  at: { readonly now: Date; readonly retentionDays: number },
): Verdict {
  const { run } = facts;
  if (run === undefined) return kept("no run of this repository is recorded for it");
  const inTheWay = touchedByHand(facts, run) ?? undecided(facts, run);
  if (inTheWay !== undefined) return kept(inTheWay);
  if (facts.openChild !== undefined) return kept(`run ${facts.openChild} builds on it`);
  const until = Date.parse(run.decidedAt ?? "") + at.retentionDays * DAY_MS;
  // Also when the time of the decision cannot be read: NaN is never in the past.
  if (!(until <= at.now.getTime()))
    return kept(
      Number.isNaN(until) ? "it is not known when it was decided" : `kept until ${day(until)}`,
    );
  return run.state === "discarded"
    ? { kind: "prunable", because: "discarded", why: "discarded" }
    : { kind: "prunable", because: "landed", why: `landed in ${run.onto}` };
}

function touchedByHand({ ref, checkedOutIn }: BranchFacts, run: RunSummary): string | undefined {
  if (ref.pointsTo !== null) return `made by hand: it points to ${ref.pointsTo}`;
  if (ref.tip !== run.head)
    return `moved by hand: published at ${run.head?.slice(0, 12) ?? "no commit"}, now at ${ref.tip.slice(0, 12)}`;
  return checkedOutIn === undefined ? undefined : `checked out in ${checkedOutIn}`;
}

function undecided({ ref, landed }: BranchFacts, run: RunSummary): string | undefined {
  const isKeptDiscard = ref.ref === discardedRef(run.id);
  if (run.state === "discarded")
    return isKeptDiscard ? undefined : "made again by hand after the run was discarded";
  if (isKeptDiscard) return `the run is ${run.state}`;
  if (run.state === "ready") return "waits for a decision";
  if (run.state === "rolled-back") return "rolled back, so it has not landed";
  if (run.state !== "promoted") return `the run is ${run.state}`;
  return landed === "yes" ? undefined : `what landed is not in ${run.onto} any more`;
}

function kept(why: string): Verdict {
  return { kind: "kept", why };
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
