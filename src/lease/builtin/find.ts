import { join } from "node:path";
import type { Lease } from "../port.ts";
import type { Pool } from "./pool.ts";
import { type LeaseRecord, recordsOf } from "./record.ts";
import { type Slot, existingSlots } from "./slots.ts";

/** Leases whose holder begins with the prefix. One whose return was cut short by a crash is still a lease. */
export async function find(pool: Pool, holderPrefix: string): Promise<readonly Lease[]> {
  const leases = new Map<string, Lease>();
  for (const slot of await existingSlots(pool.root)) {
    for (const record of (await recordsOf(slot)).records) {
      if (record.holder.startsWith(holderPrefix)) leases.set(record.id, leaseOf(slot, record));
    }
  }
  return [...leases.values()];
}

function leaseOf(slot: Slot, record: LeaseRecord): Lease {
  const path = join(slot.directory, record.worktree);
  return { kind: "builtin", id: record.id, holder: record.holder, path };
}
