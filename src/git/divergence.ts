import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitText } from "./git.ts";
import { changedEntries } from "./tree-check.ts";

export interface Divergence {
  /** Commits of the branch that the base does not have. */
  readonly commits: number;
  readonly base: "held" | "lost";
  /** Paths that differ from the common ancestor on both sides. */
  readonly bothSides: readonly string[];
}

/**
 * How far a branch has gone its own way since a run began.
 *
 * @param at `tip` is the branch now, `base` where the run began, `head` what the run made of it.
 */
export async function divergence(
  git: Git,
  at: { readonly tip: string; readonly base: string; readonly head: string },
): Promise<Result<Divergence, Failure>> {
  const counted = await gitText(git, ["rev-list", "--count", `${at.base}..${at.tip}`, "--"]);
  if (!counted.ok) return counted;
  const ancestor = await git.exec(["merge-base", "--is-ancestor", at.base, at.tip]);
  const base = ancestor.code === 0 ? "held" : "lost";
  // Unrelated histories have no common ancestor; then everything differs, and the base itself is the best there is.
  const common = await git.exec(["merge-base", at.base, at.tip]);
  const from = common.code === 0 ? common.stdout.toString("utf8").trim() : at.base;
  const theirs = await changedEntries(git, from, at.tip);
  if (!theirs.ok) return theirs;
  const ours = await changedEntries(git, at.base, at.head);
  if (!ours.ok) return ours;
  const moved = new Set(theirs.value.map((entry) => entry.path));
  const bothSides = ours.value.map((entry) => entry.path).filter((path) => moved.has(path));
  return ok({ commits: Number(counted.value) || 0, base, bothSides });
}
