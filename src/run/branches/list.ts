import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSummary } from "../../core/run-record.ts";
import {
  type AgentRef,
  type ChangeSize,
  agentRefs,
  changeSizes,
  checkedOutBranches,
} from "../../git/agent-refs.ts";
import { type CommitGraph, commitGraph } from "../../git/commit-graph.ts";
import type { Principal } from "../../git/principal.ts";
import type { History } from "../../history/port.ts";
import { discardedRef } from "../decide/decision.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

const PREFIXES = ["refs/heads/agent", "refs/guardloop/discarded"] as const;
const NO_CHANGE: ChangeSize = { files: 0, addedLines: 0, deletedLines: 0 };

/** A branch of an agent's, or what is kept of a discarded one. */
export interface AgentBranch {
  readonly ref: string;
  /** The name of the branch, also where a discard has removed it. */
  readonly branch: string;
  readonly tip: string;
  /** Null when this repository's history has no run for it; then the sizes below are not known either. */
  readonly run: RunSummary | null;
  /** When it was published; ISO 8601. Without a run, the date of its last commit. */
  readonly since: string;
  readonly commits: number | null;
  readonly size: ChangeSize | null;
  /** From the branch that the run lands on; null when that branch is gone. */
  readonly distance: { readonly ahead: number; readonly behind: number } | null;
  readonly verdict: Verdict;
}

/** All branches of agents, the newest first. A handful of Git calls, however many there are. */
export async function listBranches(
  { principal, history }: { readonly principal: Principal; readonly history: History },
  at: { readonly now: Date; readonly retentionDays: number },
): Promise<Result<readonly AgentBranch[], Failure>> {
  const { git } = principal;
  const runs = history.runs(principal.repositoryId);
  const byRef = new Map<string, RunSummary>();
  for (const run of runs) {
    if (run.branch !== null) byRef.set(`refs/heads/${run.branch}`, run);
    byRef.set(discardedRef(run.id), run);
  }
  const landings = [...new Set(runs.map((run) => `refs/heads/${run.onto}`))];
  const refs = await agentRefs(git, [...PREFIXES, ...landings]);
  if (!refs.ok) return refs;
  const ours = refs.value.filter(({ ref }) => PREFIXES.some((one) => ref.startsWith(`${one}/`)));
  const tips = new Map(refs.value.map(({ ref, tip }) => [ref, tip]));
  const ofThese = ours.flatMap(({ ref }) => byRef.get(ref) ?? []);
  const graph = await commitGraph(git, pointsOf(ours, ofThese, tips));
  if (!graph.ok) return graph;
  const sizes = await changeSizes(git, pairsOf(ours, byRef, graph.value));
  if (!sizes.ok) return sizes;
  const busy = await checkedOutBranches(git);
  if (!busy.ok) return busy;
  const children = openChildren(runs);
  const branches = ours.map((ref): AgentBranch => {
    const run = byRef.get(ref.ref);
    const onto = run === undefined ? undefined : tips.get(`refs/heads/${run.onto}`);
    const facts = {
      ref,
      run,
      checkedOutIn: busy.value.get(ref.ref),
      landed: hasLanded(run, onto, graph.value),
      openChild: run === undefined ? undefined : children.get(run.id),
    };
    return {
      ...describe(ref, run),
      commits: run === undefined ? null : graph.value.lengthSince(run.base, ref.tip),
      size: run === undefined ? null : (sizes.value.get(ref.tip) ?? NO_CHANGE),
      distance: onto === undefined ? null : graph.value.distance(ref.tip, onto),
      verdict: verdictOf(facts, at),
    };
  });
  return ok(branches.toSorted((a, b) => Date.parse(b.since) - Date.parse(a.since)));
}

function describe({ ref, tip, committedAt }: AgentRef, run: RunSummary | undefined) {
  return {
    ref,
    tip,
    branch: run?.branch ?? ref.replace(/^refs\/heads\//, ""),
    run: run ?? null,
    since: run?.endedAt ?? committedAt,
  };
}

/** Every commit that a question is asked about. */
function pointsOf(
  refs: readonly AgentRef[],
  runs: readonly RunSummary[],
  tips: ReadonlyMap<string, string>,
): readonly string[] {
  return [
    ...refs.map(({ tip }) => tip),
    ...runs.flatMap((run) =>
      [
        run.base,
        run.head ?? [],
        run.promotion?.after ?? [],
        tips.get(`refs/heads/${run.onto}`) ?? [],
      ].flat(),
    ),
  ];
}

function pairsOf(
  refs: readonly AgentRef[],
  byRef: ReadonlyMap<string, RunSummary>,
  graph: CommitGraph,
): readonly { readonly from: string; readonly to: string }[] {
  return refs.flatMap(({ ref, tip }) => {
    const base = byRef.get(ref)?.base;
    return base !== undefined && graph.has(base) && graph.has(tip) ? [{ from: base, to: tip }] : [];
  });
}

/** What counts is the branch as it is now: a promotion that was taken back by hand has not landed. */
function hasLanded(
  run: RunSummary | undefined,
  onto: string | undefined,
  graph: CommitGraph,
): "yes" | "no" {
  if (run?.state !== "promoted" || run.promotion === null || onto === undefined) return "no";
  const landed = [run.promotion.after, run.head].filter((one) => one !== null);
  return landed.some((commit) => graph.contains(onto, commit)) ? "yes" : "no";
}

/** By the run below, one of those above it that are not decided. */
function openChildren(runs: readonly RunSummary[]): ReadonlyMap<string, string> {
  const open = runs.filter((run) => run.state === "running" || run.state === "ready");
  return new Map(open.flatMap((run) => (run.parentRun === null ? [] : [[run.parentRun, run.id]])));
}
