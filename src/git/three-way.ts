import type { Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type Git, gitFailure, gitText } from "./git.ts";

/** How a merge of trees ended; paths as Git has them, to be escaped when shown. */
export type TreeMerge =
  | { readonly kind: "clean"; readonly tree: string }
  | { readonly kind: "conflict"; readonly paths: readonly string[] };

/** Nobody sees these commits; they only tell merge-tree what the base is. */
const NOBODY = {
  GIT_AUTHOR_NAME: "guardloop",
  GIT_AUTHOR_EMAIL: "guardloop@guardloop.invalid",
  GIT_AUTHOR_DATE: "@0 +0000",
  GIT_COMMITTER_NAME: "guardloop",
  GIT_COMMITTER_EMAIL: "guardloop@guardloop.invalid",
  GIT_COMMITTER_DATE: "@0 +0000",
};
const MAX_PATH_BYTES = 256 * 1024 * 1024;

/**
 * A three-way merge of three trees, in objects alone: no work tree, no index, no hook, no filter.
 *
 * Git before 2.40 has no `merge-tree --merge-base`, so the base becomes the common parent of two commits made for
 * this. To be called with a sealed Git in a repository of our own: merge drivers and rename settings of the user's
 * must not count.
 *
 * @param trees ids of trees, or of commits for their trees.
 */
export async function mergeTrees(
  git: Git,
  trees: { readonly base: string; readonly ours: string; readonly theirs: string },
): Promise<Result<TreeMerge, Failure>> {
  const base = await standIn(git, trees.base, []);
  if (!base.ok) return base;
  const ours = await standIn(git, trees.ours, ["-p", base.value]);
  if (!ours.ok) return ours;
  const theirs = await standIn(git, trees.theirs, ["-p", base.value]);
  if (!theirs.ok) return theirs;
  const sides = [ours.value, theirs.value];
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides];
  const exit = await git.exec(args, {
    deadlineMs: DEADLINES.gitLongMs,
    maxOutputBytes: MAX_PATH_BYTES,
  });
  const merged = exit.ended === "by-itself" && !exit.truncated;
  if (!merged || (exit.code !== 0 && exit.code !== 1)) return err(gitFailure(args, exit));
  const [tree = "", ...paths] = exit.stdout.toString("utf8").split("\0");
  if (exit.code === 0) return ok({ kind: "clean", tree: tree.trim() });
  return ok({ kind: "conflict", paths: paths.filter((path) => path !== "") });
}

/**
 * Whether `ours` has, as a whole, everything that leads from `base` to `theirs`. Commit by commit it may look like a
 * conflict all the same, where several changed one file.
 */
export async function hasAll(
  git: Git,
  trees: { readonly base: string; readonly ours: string; readonly theirs: string },
): Promise<Result<boolean, Failure>> {
  const merged = await mergeTrees(git, trees);
  if (!merged.ok) return merged;
  if (merged.value.kind === "conflict") return ok(false);
  const ours = await gitText(git, ["rev-parse", `${trees.ours}^{tree}`]);
  return ours.ok ? ok(merged.value.tree === ours.value) : ours;
}

function standIn(
  git: Git,
  tree: string,
  parents: readonly string[],
): Promise<Result<string, Failure>> {
  const args = ["commit-tree", `${tree}^{tree}`, ...parents];
  return gitText(git, args, { stdin: "", identity: NOBODY });
}
