import { createHash } from "node:crypto";
import type { RecordedOwner, RunEvent } from "../core/events.ts";
import type { RunSpec } from "../core/run-spec.ts";

/** The first event of a run: everything of its spec that its record needs, and the process that looks after it. */
export function runCreated(spec: RunSpec, owner: RecordedOwner): RunEvent {
  return {
    type: "run-created",
    repositoryId: spec.repository.id,
    topLevel: spec.repository.topLevel,
    branch: spec.branch,
    base: spec.base,
    parentRun: spec.parentRun,
    specHash: createHash("sha256").update(JSON.stringify(spec)).digest("hex"),
    agent: spec.agent.name,
    network: spec.network,
    startedAt: spec.startedAt,
    claims: spec.offered.map((task) => task.id),
    attempt: spec.attempt ?? null,
    owner,
  };
}
