import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { gitText } from "./git.ts";
import type { Quarantine } from "./quarantine.ts";
import { type SeriesCommit, readCommit } from "./read-commit.ts";
import { mergeTrees } from "./three-way.ts";

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** The committer of everything that guardloop makes by itself. */
export const GUARDLOOP: Person = { name: "guardloop", email: "guardloop@guardloop.invalid" };

export interface ReplayRequest {
  /** `apply`: what each commit changed, on top. `revert`: what it changed, taken away again. */
  readonly direction: "apply" | "revert";
  /** In the order in which they are to be taken. */
  readonly commits: readonly SeriesCommit[];
  /** The commit on which the first is put. */
  readonly onto: string;
  readonly committer: Person;
  /** Committer dates are this, or the parent's where that is later; seconds after the epoch. */
  readonly notBefore: number;
}

export type Replay =
  | {
      readonly kind: "done";
      /** The last commit; `onto` itself when every commit was empty there. */
      readonly tip: string;
      readonly made: number;
      /** Commits that would have changed nothing any more, and so were left out. */
      readonly dropped: readonly SeriesCommit[];
    }
  | {
      readonly kind: "conflict";
      readonly commit: SeriesCommit;
      readonly paths: readonly string[];
      /** Commits after the one with the conflict, which were not tried. */
      readonly untried: number;
    };

/**
 * Puts commits on top of another one, or takes them away again, in a quarantine. Each is a three-way merge of trees,
 * as in cherry-pick and revert. Author and message are kept. Deterministic: the same request gives the same ids.
 */
export async function replay(
  quarantine: Quarantine,
  request: ReplayRequest,
): Promise<Result<Replay, Failure>> {
  const dropped: SeriesCommit[] = [];
  let tip = request.onto;
  let made = 0;
  for (const [index, commit] of request.commits.entries()) {
    const { direction } = request;
    const sides =
      direction === "apply"
        ? { base: commit.parent, theirs: commit.id }
        : { base: commit.id, theirs: commit.parent };
    const merged = await mergeTrees(quarantine.git, { ...sides, ours: tip });
    if (!merged.ok) return merged;
    if (merged.value.kind === "conflict") {
      const untried = request.commits.length - index - 1;
      return ok({ kind: "conflict", commit, paths: merged.value.paths, untried });
    }
    const { tree } = merged.value;
    const became = await becameEmpty(quarantine, { commit, tip, tree });
    if (!became.ok) return became;
    if (became.value) {
      dropped.push(commit);
      continue;
    }
    const next = await put(quarantine, request, { commit, tree, parent: tip });
    if (!next.ok) return next;
    tip = next.value;
    made += 1;
  }
  return ok({ kind: "done", tip, made, dropped });
}

/** A commit that was empty from the start is kept: its message may be all it is about. */
async function becameEmpty(
  { git }: Quarantine,
  at: { readonly commit: SeriesCommit; readonly tip: string; readonly tree: string },
): Promise<Result<boolean, Failure>> {
  const trees = await gitText(git, [
    "rev-parse",
    `${at.tip}^{tree}`,
    `${at.commit.id}^{tree}`,
    `${at.commit.parent}^{tree}`,
  ]);
  if (!trees.ok) return trees;
  const [before, own, parents] = trees.value.split("\n");
  return ok(at.tree === before && own !== parents);
}

async function put(
  { git }: Quarantine,
  request: ReplayRequest,
  at: { readonly commit: SeriesCommit; readonly tree: string; readonly parent: string },
): Promise<Result<string, Failure>> {
  const parent = await readCommit(git, at.parent);
  if (!parent.ok) return parent;
  const date = `${Math.max(request.notBefore, parent.value.committedAt)} +0000`;
  const { direction, committer } = request;
  const author = direction === "apply" ? at.commit.author : { ...committer, date };
  return gitText(git, ["commit-tree", at.tree, "-p", at.parent], {
    stdin: direction === "apply" ? at.commit.message : revertMessage(at.commit),
    identity: {
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: `@${author.date}`,
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      GIT_COMMITTER_DATE: `@${date}`,
    },
  });
}

/** The words of `git revert`. */
function revertMessage({ subject, id }: SeriesCommit): string {
  return `Revert "${subject}"\n\nThis reverts commit ${id}.\n`;
}
