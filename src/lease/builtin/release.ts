import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Lease } from "../port.ts";
import { fenced, gitIn } from "../git-in.ts";
import { sight } from "../sighting.ts";
import { uncleanness } from "../uncleanness.ts";
import { claimReturn, finishReturn } from "./claim.ts";
import type { Pool } from "./pool.ts";
import { resetWorktree } from "./prepare.ts";
import { unlockRegistration } from "./registration-lock.ts";
import { slotOfPath } from "./slots.ts";

/**
 * Returns a lease by its id. A worktree that is not clean is cleaned at the commit it is on; where that fails the slot is freed all
 * the same, because the next lease repairs it.
 */
export async function release(
  pool: Pool,
  lease: Lease,
): Promise<Result<"returned" | "already-returned", Failure>> {
  const slot = slotOfPath(pool.root, lease.path);
  if (slot === undefined || !/^[0-9a-f]{32}$/.test(lease.id))
    return fail("release-failed", `${lease.path} is not a worktree of the pool ${pool.root}.`);
  const claim = await claimReturn(slot, lease.id, pool.host);
  if (claim === "gone" || claim === "busy") return ok("already-returned");
  try {
    await cleanAtHead(pool, claim.fence, lease.path);
  } finally {
    await finishReturn(claim);
  }
  return ok("returned");
}

async function cleanAtHead(pool: Pool, fence: string, path: string): Promise<void> {
  const git = fenced(pool.git, fence);
  const found = await sight(git, path, pool.commonDir);
  if (found.owner !== "ours") {
    // By its path, since what is there does not lead to its registration.
    await git.exec(["worktree", "unlock", path]);
    return;
  }
  const isDirty = (await uncleanness(gitIn(git, path), "refresh")) !== undefined;
  if (found.head.ok && (isDirty || found.head.value.attachedTo !== ""))
    await resetWorktree(git, path, found.head.value.commit);
  await unlockRegistration(found.gitDir, fence);
}
