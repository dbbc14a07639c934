import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import type { Environment } from "../process/command.ts";
import { gitFailure, gitText } from "./git.ts";
import { type Coming, filesInTheWay } from "./in-the-way.ts";
import type { Principal } from "./principal.ts";

const LONG = { deadlineMs: DEADLINES.gitLongMs };
/** Files in the way that are shown. */
const SHOWN_FILES = 20;

/**
 * Fast-forwards the checked-out branch. Git itself compares and swaps the ref; a file of the user's that Git does
 * not track is never overwritten, ignored ones included. Hooks are off.
 *
 * @param branch the checked-out branch, without `refs/heads/`.
 */
export async function fastForward(
  principal: Principal,
  { to, branch }: { readonly to: string; readonly branch: string },
): Promise<Result<void, Failure>> {
  const args = [
    // The user's own settings for merges are meant for other ones.
    "-c",
    "merge.autoStash=false",
    "-c",
    `branch.${branch}.mergeOptions=`,
    "merge",
    "--ff-only",
    "--no-overwrite-ignore",
    "--no-verify-signatures",
    "--no-stat",
    "--quiet",
    to,
  ];
  const exit = await principal.git.exec(args, LONG);
  const why = gitFailure(["merge"], exit);
  if (exit.code !== 0)
    return fail(
      "promote-refused",
      `Git refused the fast-forward: ${why.details[0] ?? why.message}`,
      {
        details: why.details,
        cure: "Clear what Git names, then promote again. Nothing was changed.",
      },
    );
  const head = await gitText(principal.git, ["rev-parse", "--verify", "HEAD"]);
  if (head.ok && head.value === to) return ok(undefined);
  return fail(
    "git-failed",
    `Git said that it fast-forwarded, but HEAD is not at ${to.slice(0, 12)}.`,
  );
}

/** Moves the checked-out branch back; refuses where a changed or an ignored file would be lost. */
export async function resetKeeping(
  principal: Principal,
  to: string,
): Promise<Result<void, Failure>> {
  const free = await refuseLoss(principal, { kind: "go-to", commit: to });
  if (!free.ok) return free;
  const exit = await principal.git.exec(["reset", "--keep", "--quiet", to], LONG);
  if (exit.code === 0) return ok(undefined);
  const why = gitFailure(["reset"], exit);
  return fail("rollback-refused", `Git refused to go back: ${why.details[0] ?? why.message}`, {
    details: why.details,
  });
}

/** Makes revert commits for a range, newest first; a conflict undoes all of them. */
export async function revertRange(
  principal: Principal,
  range: { readonly before: string; readonly after: string },
): Promise<Result<void, Failure>> {
  const free = await refuseLoss(principal, { kind: "revert", ...range });
  if (!free.ok) return free;
  const commits = `${range.before}..${range.after}`;
  const args = ["-c", "commit.gpgSign=false", "revert", "--no-edit", commits];
  const identity = await identityFor(principal);
  const exit = await principal.git.exec(args, { ...LONG, ...(identity && { identity }) });
  if (exit.code === 0) return ok(undefined);
  await principal.git.exec(["revert", "--abort"], LONG);
  const why = gitFailure(["revert"], exit);
  return fail(
    "rollback-refused",
    `The promotion cannot be reverted without conflicts: ${why.details[0] ?? why.message}`,
    {
      details: why.details,
      cure: "Later commits build on it. Revert by hand, or roll back the later runs first.",
    },
  );
}

async function refuseLoss(principal: Principal, coming: Coming): Promise<Result<void, Failure>> {
  const files = await filesInTheWay(principal, coming);
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

/** A name for the revert commits where Git knows none of the user's; undefined where it does. */
async function identityFor(principal: Principal): Promise<Environment | undefined> {
  const known = await principal.git.exec(["var", "GIT_COMMITTER_IDENT"]);
  if (known.code === 0) return undefined;
  const [name, address] = ["guardloop", "guardloop@guardloop.invalid"];
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: address,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: address,
  };
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
