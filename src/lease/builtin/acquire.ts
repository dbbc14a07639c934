import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import type { Lease, LeaseRequest } from "../port.ts";
import { leaseLost } from "../lost.ts";
import { fenced } from "../git-in.ts";
import { commitId } from "../worktree-check.ts";
import { dropLease, fenceOf, sweepUnfinished, takeSlot } from "./claim.ts";
import type { Pool } from "./pool.ts";
import { prepareWorktree } from "./prepare.ts";
import { newRecord } from "./record.ts";
import { MAX_SLOTS, type Slot, slotAt } from "./slots.ts";

/** So many slots may turn out unusable before we stop looking: the cause is then not in the slots. */
const MAX_BROKEN_SLOTS = 3;

/** Leases the free slot with the lowest number. A lease whose owner died is left to `recover`. */
export async function acquire(pool: Pool, request: LeaseRequest): Promise<Result<Lease, Failure>> {
  const base = await commitId(pool.git, request.base);
  if (!base.ok)
    return fail(
      "lease-failed",
      `The repository has no commit ${request.base} to lease a worktree at.`,
    );
  await ensurePrivateDirectory(pool.root);
  await sweepUnfinished(pool.root, pool.host);
  const broken: Failure[] = [];
  for (let number = 1; number <= MAX_SLOTS && broken.length < MAX_BROKEN_SLOTS; number += 1) {
    const lease = await leaseSlot(pool, slotAt(pool.root, number), {
      holder: request.holder,
      base: base.value,
    });
    if (lease === "held") continue;
    if (lease.ok || lease.error.code === "lease-lost") return lease;
    broken.push(lease.error);
  }
  const first = broken[0];
  if (first === undefined)
    return fail("lease-failed", `All ${MAX_SLOTS} worktrees of the pool ${pool.root} are leased.`, {
      cure: "Wait for a run to end, or run `guardloop recover` to return the leases of dead ones.",
    });
  return fail("lease-failed", first.message, {
    details: broken.flatMap((each) => [each.message].concat(each.details)),
  });
}

async function leaseSlot(
  pool: Pool,
  slot: Slot,
  request: LeaseRequest,
): Promise<Result<Lease, Failure> | "held"> {
  const record = newRecord(request.holder, pool.worktree, pool.host);
  if ((await takeSlot(pool.root, slot, record)) === "held") return "held";
  const path = join(slot.directory, pool.worktree);
  let outcome: "leased" | "failed" = "failed";
  try {
    const fence = fenceOf(slot, record.id);
    const expected = { path, commonDir: pool.commonDir, base: request.base };
    const reason = `leased by ${request.holder}`;
    const prepared = await prepareWorktree(
      { git: fenced(pool.git, fence), fence },
      expected,
      reason,
    );
    if (!existsSync(fence)) return leaseLost(path);
    if (!prepared.ok) return prepared;
    outcome = "leased";
    return ok({ kind: "builtin", id: record.id, holder: record.holder, path });
  } finally {
    if (outcome === "failed") await dropLease(slot, record.id);
  }
}
