import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Lease } from "../port.ts";
import { fenced, gitIn, headPosition, ownership } from "../worktree-check.ts";
import { claimReturn, finishReturn } from "./claim.ts";
import type { Pool } from "./pool.ts";
import { resetWorktree, unlockWorktree } from "./prepare.ts";
import { slotOfPath } from "./slots.ts";

/**
 * Returns a lease by its id. The worktree is cleaned at the commit it is on; where that fails the slot is freed all
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
    await cleanAtHead({ ...pool, git: fenced(pool.git, claim.fence) }, lease.path);
  } finally {
    await finishReturn(claim);
  }
  return ok("returned");
}

async function cleanAtHead(pool: Pool, path: string): Promise<void> {
  if ((await ownership(pool.git, path, pool.commonDir)) === "ours") {
    const head = await headPosition(gitIn(pool.git, path));
    if (head.ok) await resetWorktree(pool.git, path, head.value.commit);
  }
  await unlockWorktree(pool.git, path);
}
