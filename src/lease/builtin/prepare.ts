import { existsSync } from "node:fs";
import { type Failure, fail } from "../../core/failures.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Result, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { type Git, gitFailure, gitOutput } from "../../git/git.ts";
import { type Expected, gitIn, ownership, problemWith } from "../worktree-check.ts";

/** A slot that the caller holds. */
interface Held {
  /** Starts only while the fence is there. */
  readonly git: Git;
  /** The lease's file. */
  readonly fence: string;
}

const LONG = { deadlineMs: DEADLINES.gitLongMs };

/**
 * Puts the worktree of a slot that the caller holds at `base`: detached, clean, ignored files kept. A worktree that
 * is missing or damaged, or that does not obey, is made anew. May be called again after a crash at any point.
 */
export async function prepareWorktree(
  held: Held,
  expected: Expected,
  reason: string,
): Promise<Result<"reused" | "made", Failure>> {
  const { git } = held;
  if ((await ownership(git, expected.path, expected.commonDir)) === "ours") {
    await lockWorktree(git, expected.path, reason);
    const reset = await resetWorktree(git, expected.path, expected.base);
    if (reset.ok && (await problemWith(git, expected)) === undefined) return ok("reused");
  }
  const made = await makeWorktree(held, expected);
  if (!made.ok) return made;
  await lockWorktree(git, expected.path, reason);
  const problem = await problemWith(git, expected);
  if (problem === undefined) return ok("made");
  return fail("lease-failed", `The fresh worktree ${expected.path} ${problem}.`);
}

/**
 * Throws away changes and untracked files and detaches HEAD at a commit. Ignored files stay, and so does every
 * branch. The caller has made sure that the path is a worktree of the pool.
 */
export async function resetWorktree(
  git: Git,
  path: string,
  commit: string,
): Promise<Result<Buffer, Failure>> {
  const here = gitIn(git, path);
  const files = await gitOutput(here, ["read-tree", "--reset", "-u", commit], LONG);
  if (!files.ok) return files;
  const head = ["update-ref", "--no-deref", "-m", "guardloop: lease", "HEAD", commit];
  const moved = await gitOutput(here, head);
  if (!moved.ok) return moved;
  // Twice -f: a repository that somebody left inside counts as untracked, too.
  return gitOutput(here, ["clean", "-ffdq"], LONG);
}

/** While it is locked, neither `git worktree prune` nor a plain `git worktree remove` of the user's touches it. */
async function lockWorktree(git: Git, path: string, reason: string): Promise<void> {
  const lock = ["worktree", "lock", "--reason", reason, path];
  const locked = await git.exec(lock);
  if (locked.code === 0) return;
  // Locked for an earlier lease.
  await unlockWorktree(git, path);
  await git.exec(lock);
}

/** May be called when it is not locked, or not there. */
export async function unlockWorktree(git: Git, path: string): Promise<void> {
  await git.exec(["worktree", "unlock", path]);
}

async function makeWorktree(
  { git, fence }: Held,
  expected: Expected,
): Promise<Result<undefined, Failure>> {
  // Unlike git, which looks for itself, this can be late by the time between two of our own steps.
  if (existsSync(fence)) await removeTree(expected.path);
  // Takes exactly our own registration away; `worktree prune` would also forget worktrees of the user's whose disk
  // is not mounted now. It fails when there was no registration, which is fine.
  await git.exec(["worktree", "remove", "--force", "--force", expected.path], LONG);
  const args = ["worktree", "add", "--detach", expected.path, expected.base];
  const exit = await git.exec(args, LONG);
  if (exit.code === 0 && exit.ended === "by-itself") return ok(undefined);
  const why = gitFailure(args, exit);
  return fail("lease-failed", `The worktree ${expected.path} could not be made: ${why.message}.`, {
    details: why.details,
  });
}
