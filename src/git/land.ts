import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { gitFailure } from "./git.ts";
import type { Principal } from "./principal.ts";

/**
 * Fast-forwards the checked-out branch. Git itself compares and swaps the ref; a file of the user's that Git does
 * not track is never overwritten, ignored ones included. Hooks are off.
 */
export async function fastForward(
  principal: Principal,
  to: string,
): Promise<Result<void, Failure>> {
  const args = [
    "-c",
    "merge.autoStash=false",
    "merge",
    "--ff-only",
    "--no-overwrite-ignore",
    "--no-stat",
    "--quiet",
    to,
  ];
  const exit = await principal.git.exec(args, { deadlineMs: DEADLINES.gitLongMs });
  if (exit.code === 0) return ok(undefined);
  const why = gitFailure(["merge"], exit);
  return fail("promote-refused", `Git refused the fast-forward: ${why.details[0] ?? why.message}`, {
    details: why.details,
    cure: "Clear what Git names, then promote again. Nothing was changed.",
  });
}

/** Moves the checked-out branch back; refuses where a changed file would be lost. */
export async function resetKeeping(
  principal: Principal,
  to: string,
): Promise<Result<void, Failure>> {
  const exit = await principal.git.exec(["reset", "--keep", "--quiet", to], {
    deadlineMs: DEADLINES.gitLongMs,
  });
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
  const args = [
    "-c",
    "commit.gpgSign=false",
    "revert",
    "--no-edit",
    `${range.before}..${range.after}`,
  ];
  const exit = await principal.git.exec(args, { deadlineMs: DEADLINES.gitLongMs });
  if (exit.code === 0) return ok(undefined);
  await principal.git.exec(["revert", "--abort"]);
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

/** Whether one commit is an ancestor of another, or the same. */
export async function isAncestor(
  principal: Principal,
  ancestor: string,
  descendant: string,
): Promise<boolean> {
  const exit = await principal.git.exec(["merge-base", "--is-ancestor", ancestor, descendant]);
  return exit.code === 0;
}
