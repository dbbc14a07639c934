import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * While a worktree is locked, neither `git worktree prune` nor a plain `git worktree remove` of the user's touches it. The
 * lock is one file, gitrepository-layout(5), `worktrees/<id>/locked`, that holds the reason; writing it is what
 * `git worktree lock` does. One of an earlier lease, or of the user's, is written over.
 *
 * @param gitDir the worktree's own Git directory, absolute.
 * @param fence nothing is written once this file is gone.
 */
export async function lockRegistration(
  gitDir: string,
  reason: string,
  fence: string,
): Promise<void> {
  if (existsSync(fence)) await writeFile(lockFile(gitDir), `${reason}\n`);
}

/** May be called when it is not locked. */
export async function unlockRegistration(gitDir: string, fence: string): Promise<void> {
  if (existsSync(fence)) await rm(lockFile(gitDir), { force: true });
}

function lockFile(gitDir: string): string {
  return join(gitDir, "locked");
}
