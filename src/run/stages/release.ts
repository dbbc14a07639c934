import { lstat } from "node:fs/promises";
import { type Failure, failure } from "../../core/failures.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { RunServices } from "../services.ts";
import { removeSnapshot } from "../snapshot/remove-snapshot.ts";
import type { Stage } from "../stage.ts";
import { leaseHolder } from "./lease.ts";

export interface Released {
  readonly released: { readonly leases: number; readonly snapshot: "removed" | "kept" };
}

interface Input {
  readonly runId: string;
  /** Undefined where it cannot be read. */
  readonly spec: RunSpec | undefined;
}

/** Returns the lease and removes the snapshot, on every ending. The pool is asked what is held, not our notes. */
export const releaseStage: Stage<Input, Released> = {
  name: "release",
  async perform(services, { runId, spec }) {
    const snapshot = isKept(services, runId) ? "kept" : "removed";
    // Neither waits for the other; that one cannot be done does not keep the other from it.
    const [removed, returned] = await Promise.allSettled([
      snapshot === "removed" ? removeSnapshot(services, spec, [services.paths.job]) : undefined,
      returnLeases(services, runId),
    ]);
    if (removed.status === "rejected") throw removed.reason;
    if (returned.status === "rejected") throw returned.reason;
    return returned.value.ok
      ? ok({ released: { leases: returned.value.value, snapshot } })
      : returned.value;
  },
  async observe(services, { runId }) {
    const held = await services.leases.find(leaseHolder(runId));
    if (!held.ok) return held;
    const workspace = await lstat(services.paths.workspace).catch(() => undefined);
    const clean = held.value.length === 0 && (workspace === undefined || isKept(services, runId));
    return ok(clean ? "present" : "absent");
  },
  // A returned lease is not taken back.
  undo: async () => ok(undefined),
};

/** @returns how many there were. */
async function returnLeases(
  { leases }: RunServices,
  runId: string,
): Promise<Result<number, Failure>> {
  const held = await leases.find(leaseHolder(runId));
  if (!held.ok) return err(failure("release-failed", held.error.message, held.error));
  for (const lease of held.value) {
    const returned = await leases.release(lease);
    if (!returned.ok) return err(failure("release-failed", returned.error.message, returned.error));
  }
  return ok(held.value.length);
}

function isKept(services: RunServices, runId: string): boolean {
  const kept = services.history.run(runId)?.keptSnapshot;
  return kept !== undefined && kept !== null;
}
