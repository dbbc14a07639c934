import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSummary } from "../../core/run-record.ts";
import { deleteRef } from "../../git/publish.ts";
import type { DecisionServices } from "../decide/decision.ts";
import { withRepositoryLock } from "../decide/repository-lock.ts";
import { type AgentBranch, listBranches } from "./list.ts";

type PruneServices = Pick<DecisionServices, "env" | "principal" | "history">;

interface At {
  readonly now: Date;
  readonly retentionDays: number;
}

export interface PrunableBranch extends AgentBranch {
  readonly run: RunSummary;
  readonly verdict: Extract<AgentBranch["verdict"], { kind: "prunable" }>;
}

export interface Pruning {
  /** As they were before. */
  readonly branches: readonly AgentBranch[];
  readonly pruned: readonly PrunableBranch[];
  /** Sentences about refs that could not be removed, for example since somebody moved one just now. */
  readonly problems: readonly string[];
}

/**
 * Removes the refs that may go, each only while it still has the value that was judged, and records it. Commits are not
 * removed: Git collects them when nothing leads to them any more.
 *
 * Everything is judged under the repository's lock. May be called again; after a crash the rest goes the next time.
 */
export async function pruneBranches(
  services: PruneServices,
  at: At,
): Promise<Result<Pruning, Failure>> {
  return pruneThose(services, at, () => true);
}

/** The same for one ref. */
export async function pruneBranch(
  services: PruneServices,
  at: At,
  ref: string,
): Promise<Result<"removed" | "kept", Failure>> {
  const done = await pruneThose(services, at, (one) => one.ref === ref);
  if (!done.ok) return done;
  const [problem] = done.value.problems;
  if (problem !== undefined) return fail("git-failed", problem);
  return ok(done.value.pruned.length > 0 ? "removed" : "kept");
}

async function pruneThose(
  services: PruneServices,
  at: At,
  isMeant: (branch: PrunableBranch) => boolean,
): Promise<Result<Pruning, Failure>> {
  const { env, principal, history } = services;
  return withRepositoryLock(env, principal.repositoryId, async () => {
    const listed = await listBranches(services, at);
    if (!listed.ok) return listed;
    const pruned: PrunableBranch[] = [];
    const problems: string[] = [];
    for (const branch of prunable(listed.value).filter(isMeant)) {
      const { ref, tip, run, verdict } = branch;
      const gone = await deleteRef(principal.git, ref, tip);
      if (gone.ok) {
        const { because } = verdict;
        history.append(run.id, { type: "branch-pruned", ref, head: tip, because, by: env.user });
        pruned.push(branch);
      } else problems.push(gone.error.message);
    }
    return ok({ branches: listed.value, pruned, problems });
  });
}

export function prunable(branches: readonly AgentBranch[]): readonly PrunableBranch[] {
  return branches.flatMap((branch) => {
    const { run, verdict } = branch;
    return run !== null && verdict.kind === "prunable" ? [{ ...branch, run, verdict }] : [];
  });
}
