import { existsSync } from "node:fs";
import { type Failure, fail } from "../../core/failures.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Result, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { type Git, gitFailure, gitOutput } from "../../git/git.ts";
import { gitIn } from "../git-in.ts";
import { type HeadPosition, sight } from "../sighting.ts";
import { type Expected, problemWith, problemWithSighted } from "../worktree-check.ts";
import { lockRegistration } from "./registration-lock.ts";

/** A slot that the caller holds. */
interface Held {
  /** Starts only while the fence is there. */
  readonly git: Git;
  /** The lease's file. */
  readonly fence: string;
}

const LONG = { deadlineMs: DEADLINES.gitLongMs };

/**
 * Puts the worktree of a slot that the caller holds at `base`: detached, clean, ignored files kept. One that is so
 * already is only looked at; one that is clean somewhere else is moved by the difference. A worktree that is missing
 * or damaged, or that does not obey, is made anew. May be called again after a crash at any point.
 */
export async function prepareWorktree(
  held: Held,
  expected: Expected,
  reason: string,
): Promise<Result<"reused" | "made", Failure>> {
  if (await reuse(held, expected, reason)) return ok("reused");
  const made = await makeWorktree(held, expected);
  if (!made.ok) return made;
  const found = await sight(held.git, expected.path, expected.commonDir);
  if (found.owner === "ours") await lockRegistration(found.gitDir, reason, held.fence);
  const problem = await problemWithSighted(held.git, found, expected);
  if (problem === undefined) return ok("made");
  return fail("lease-failed", `The fresh worktree ${expected.path} ${problem}.`);
}

/** Whether the worktree that is there is as expected now. */
async function reuse(held: Held, expected: Expected, reason: string): Promise<boolean> {
  const { git } = held;
  const found = await sight(git, expected.path, expected.commonDir);
  if (found.owner !== "ours") return false;
  await lockRegistration(found.gitDir, reason, held.fence);
  const isThere = found.head.ok && isDetachedAt(found.head.value, expected.base);
  if (isThere && (await problemWithSighted(git, found, expected)) === undefined) return true;
  if (!isThere && found.head.ok) {
    const moved = await moveWorktree(git, { ...expected, from: found.head.value.commit });
    if (moved && (await problemWith(git, expected)) === undefined) return true;
  }
  const reset = await resetWorktree(git, expected.path, expected.base);
  return reset.ok && (await problemWith(git, expected)) === undefined;
}

function isDetachedAt({ commit, attachedTo }: HeadPosition, base: string): boolean {
  return commit === base && attachedTo === "";
}

/**
 * Moves a worktree from the commit it is at to another one and detaches its HEAD; only files that differ between the two
 * are touched, and no other file is looked at. Changes that somebody made meanwhile stay or make it fail: see "Two Tree
 * Merge" in git-read-tree(1).
 */
async function moveWorktree(
  git: Git,
  { path, from, base }: Expected & { readonly from: string },
): Promise<boolean> {
  const here = gitIn(git, path);
  if (from !== base) {
    const files = await gitOutput(here, ["read-tree", "-m", "-u", from, base], LONG);
    if (!files.ok) return false;
  }
  return (await moveHead(here, base)).ok;
}

/** No branch moves: a HEAD that is attached to one is detached. */
function moveHead(here: Git, commit: string): Promise<Result<Buffer, Failure>> {
  return gitOutput(here, ["update-ref", "--no-deref", "-m", "guardloop: lease", "HEAD", commit]);
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
  const moved = await moveHead(here, commit);
  if (!moved.ok) return moved;
  // Twice -f: a repository that somebody left inside counts as untracked, too.
  return gitOutput(here, ["clean", "-ffdq"], LONG);
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
