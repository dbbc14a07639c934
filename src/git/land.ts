import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { gitFailure, gitText } from "./git.ts";
import { filesInTheWay } from "./in-the-way.ts";
import { type Principal, readHead } from "./principal.ts";
import { parseIdentity } from "./read-commit.ts";
import { GUARDLOOP, type Person } from "./replay.ts";

const LONG = { deadlineMs: DEADLINES.gitLongMs };
/** Files in the way that are shown. */
const SHOWN_FILES = 20;

/** Where the checked-out branch is to go, and what a refusal is called. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** The checked-out branch, without `refs/heads/`. */
  readonly branch: string;
  readonly refusal: "promote-refused" | "rollback-refused";
}

/**
 * Fast-forwards the checked-out branch. Git itself compares and swaps the ref; a file of the user's that Git does
 * not track is never overwritten, ignored ones included. Hooks are off.
 */
export async function fastForward(
  principal: Principal,
  move: Move,
): Promise<Result<void, Failure>> {
  const { from, to, branch, refusal } = move;
  const there = await onBranch(principal, move);
  if (!there.ok) return there;
  const args = [
    // The user's own settings for merges are meant for other ones.
    "-c",
    "merge.autoStash=false",
    "merge",
    "--ff-only",
    "--no-overwrite-ignore",
    "--no-verify-signatures",
    "--no-stat",
    "--quiet",
    to,
  ];
  const config = [`branch.${branch}.mergeOptions`, ""] as const;
  const exit = await principal.git.exec(args, { ...LONG, config });
  if (exit.code !== 0) {
    const now = await readHead(principal);
    if (!now.ok || now.value.branch !== branch || now.value.commit !== from)
      return fail(refusal, `${branch} moved, or was left, at the very moment it was to be moved.`, {
        cure: "Look what happened there, then try again. Nothing was changed.",
      });
    const why = gitFailure(["merge"], exit);
    return fail(refusal, `Git refused the fast-forward: ${why.details[0] ?? why.message}`, {
      details: why.details,
      cure: "Clear what Git names, then try again. Nothing was changed.",
    });
  }
  const tip = await gitText(principal.git, ["rev-parse", "--verify", `refs/heads/${branch}`]);
  if (tip.ok && tip.value === to) return ok(undefined);
  return fail(
    "git-failed",
    `Git said that it fast-forwarded, but ${branch} is not at ${to.slice(0, 12)}.`,
  );
}

/** Git moves whatever is checked out; the checks before took their time, and the user may have switched meanwhile. */
async function onBranch(
  principal: Principal,
  { branch, refusal }: Pick<Move, "branch" | "refusal">,
): Promise<Result<void, Failure>> {
  const now = await readHead(principal);
  if (now.ok && now.value.branch === branch) return ok(undefined);
  return fail(refusal, `${branch} is not checked out any more.`, {
    cure: `Check out ${branch}, then try again. Nothing was changed.`,
  });
}

/**
 * Moves the checked-out branch back; refuses where a changed file would be lost. `git reset` does not compare the
 * ref with anything, but tells where it was: a commit that came at that very moment is put back.
 */
export async function resetKeeping(
  principal: Principal,
  { from, to, branch }: Pick<Move, "from" | "to" | "branch">,
): Promise<Result<void, Failure>> {
  const there = await onBranch(principal, { branch, refusal: "rollback-refused" });
  if (!there.ok) return there;
  const exit = await principal.git.exec(["reset", "--keep", "--quiet", to], LONG);
  if (exit.code !== 0) {
    const why = gitFailure(["reset"], exit);
    return fail("rollback-refused", `Git refused to go back: ${why.details[0] ?? why.message}`, {
      details: why.details,
    });
  }
  const was = await gitText(principal.git, ["rev-parse", "--verify", "ORIG_HEAD"]);
  if (!was.ok || was.value === from) return ok(undefined);
  await principal.git.exec(["reset", "--keep", "--quiet", was.value], LONG);
  return fail("rollback-refused", "A commit was made at the very moment of going back.", {
    cure: "Nothing was changed. Look at that commit, then try again.",
  });
}

/** Refuses to go back to a commit that brings files where untracked or ignored ones of the user's are. */
export async function refuseLoss(
  principal: Principal,
  commit: string,
): Promise<Result<void, Failure>> {
  const files = await filesInTheWay(principal, commit);
  if (!files.ok) return files;
  if (files.value.length === 0) return ok(undefined);
  return fail(
    "rollback-refused",
    `Going back would overwrite files that Git does not track, the first is ${files.value[0] ?? ""}.`,
    {
      details: files.value.slice(0, SHOWN_FILES),
      cure: "Move the listed files away, then roll back again. Nothing was changed.",
    },
  );
}

/** Who makes revert commits: the user, or guardloop where Git knows no name of the user's. */
export async function revertingPerson(principal: Principal): Promise<Person> {
  const known = await principal.git.exec(["var", "GIT_COMMITTER_IDENT"]);
  if (known.code !== 0) return GUARDLOOP;
  const { name, email } = parseIdentity(known.stdout.toString("utf8").trim());
  return { name, email };
}

/** Whether one commit is an ancestor of another, or the same. */
export async function isAncestor(
  principal: Principal,
  ancestor: string,
  descendant: string,
): Promise<boolean> {
  const exit = await principal.git.exec(["merge-base", "--is-ancestor", ancestor, descendant]);
  return exit.code === 0;
}

/** The work tree that has a branch checked out, or undefined; deleting such a branch would leave it without HEAD. */
export async function checkedOutIn(
  principal: Principal,
  branchRef: string,
): Promise<string | undefined> {
  const exit = await principal.git.exec(["worktree", "list", "--porcelain", "-z"]);
  const entries = exit.stdout.toString("utf8").split("\0\0");
  const fields = entries.map((entry) => entry.split("\0"));
  const found = fields.find((lines) => lines.includes(`branch ${branchRef}`));
  return found?.[0]?.replace(/^worktree /, "");
}
