import { realpath } from "node:fs/promises";
import { fail } from "../../core/failures.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { ok } from "../../core/result.ts";
import type { Lease } from "../../lease/port.ts";
import type { Stage } from "../stage.ts";

export interface Leased {
  readonly lease: Lease;
}

interface Input {
  readonly runId: string;
  readonly spec: RunSpec;
}

export function leaseHolder(runId: string): string {
  return `guardloop:${runId}`;
}

/** Leases a worktree at the principal HEAD. A stacked run's lease stays there too: see the operator contract. */
export const leaseStage: Stage<Input, Leased> = {
  name: "lease",
  async perform(services, { spec }) {
    const lease = await services.leases.acquire({
      holder: leaseHolder(spec.runId),
      base: spec.principalHead,
    });
    if (!lease.ok) return lease;
    if ((await realpath(lease.value.path)) === (await realpath(services.principal.topLevel))) {
      await services.leases.release(lease.value);
      return fail("lease-failed", "The lease tool handed out the principal checkout itself.");
    }
    return ok({ lease: lease.value });
  },
  async observe(services, { runId }) {
    const held = await services.leases.find(leaseHolder(runId));
    return held.ok ? ok(held.value.length > 0 ? "present" : "absent") : held;
  },
  async undo(services, { runId }) {
    const held = await services.leases.find(leaseHolder(runId));
    if (!held.ok) return held;
    for (const lease of held.value) {
      const returned = await services.leases.release(lease);
      if (!returned.ok) return returned;
    }
    return ok(undefined);
  },
};
