import type { DecisionIntent, RecordedOwner, RunEvent, StoredEvent } from "./events.ts";
import type { Attempt, StageTiming, Validation } from "./run-spec.ts";
import type { RunState } from "./run-state.ts";
import type { StageName } from "./stage-name.ts";
import { unreachable } from "./result.ts";
import type { NetworkMode } from "./network.ts";

/** A run as its events tell it. */
export interface RunRecord {
  readonly id: string;
  readonly state: RunState;
  readonly repositoryId: string;
  readonly topLevel: string;
  /** Branch of the principal checkout that a promotion lands on. */
  readonly onto: string;
  readonly base: string;
  readonly parentRun: string | null;
  /** SHA-256 of the run spec. */
  readonly specHash: string;
  readonly agent: string;
  /** As the agent's program says it; null where it was not asked, did not say or has not been started. */
  readonly agentVersion: string | null;
  readonly network: NetworkMode;
  readonly owner: RecordedOwner;
  readonly task: string | null;
  /** Ids of the tasks that were offered, in the plan's order; empty in the oldest records. */
  readonly claims: readonly string[];
  readonly attempt: Attempt | null;
  readonly branch: string | null;
  readonly head: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly failure: RunFailure | null;
  readonly stages: readonly StageTiming[];
  /** Outputs of the stages that are done, for recovery. */
  readonly outputs: Readonly<Partial<Record<StageName, unknown>>>;
  readonly salvagedPatches: number;
  /** The newest validation; it counts only for its own tree. */
  readonly validation: Validation | null;
  /** The newest validation of each tree, by tree id: a rebased tree and the run's own have one each. */
  readonly validations: Readonly<Record<string, Validation>>;
  readonly keptSnapshot: {
    readonly path: string;
    readonly sizeBytes: number;
    readonly until: string;
  } | null;
  readonly promotion: Extract<RunEvent, { type: "run-promoted" }> | null;
  readonly rollback: Extract<RunEvent, { type: "run-rolled-back" }> | null;
  /** Null again after a restore. */
  readonly discard: { readonly at: string; readonly by: string; readonly why: string } | null;
  /** A promotion or rollback that was begun and of which no outcome is recorded; Git knows whether it happened. */
  readonly intent: DecisionIntent | null;
  /** When the last promotion, discard, restore or rollback was; null before the first. */
  readonly decidedAt: string | null;
  /** Set while the ref that led to the run's commits is gone on purpose; `git gc` may then have collected them. */
  readonly branchPruned: BranchPruned | null;
  /** Set when the files of the record were removed; what the events tell is all that is left of it. */
  readonly recordRemoved: RecordRemoved | null;
}

export interface RecordRemoved {
  readonly at: string;
  readonly because: "landed" | "discarded" | "empty";
  readonly sizeBytes: number;
  readonly by: string;
}

/** A run without what its stages did, which is most of a record. */
export type RunSummary = Omit<RunRecord, "stages" | "outputs">;

export interface BranchPruned {
  readonly at: string;
  readonly ref: string;
  /** The commit the ref was at. */
  readonly head: string;
  readonly because: "landed" | "discarded";
  readonly by: string;
}

export interface RunFailure {
  readonly stage: StageName;
  readonly code: string;
  readonly message: string;
  readonly cure: string;
  readonly details: readonly string[];
}

/** Folds the events of one run, oldest first. Undefined when the first is not `run-created`. */
export function foldRun(events: readonly StoredEvent[]): RunRecord | undefined {
  const [first, ...rest] = events;
  if (first?.event.type !== "run-created") return undefined;
  const { type: _type, branch, startedAt, ...created } = first.event;
  let record: RunRecord = {
    id: first.runId,
    state: "running",
    claims: [],
    attempt: null,
    ...created,
    onto: branch,
    agentVersion: null,
    task: null,
    branch: null,
    head: null,
    startedAt: startedAt ?? first.at,
    endedAt: null,
    failure: null,
    stages: [],
    outputs: {},
    salvagedPatches: 0,
    validation: null,
    validations: {},
    keptSnapshot: null,
    promotion: null,
    rollback: null,
    discard: null,
    intent: null,
    decidedAt: null,
    branchPruned: null,
    recordRemoved: null,
  };
  for (const stored of rest) record = apply(record, stored);
  return record;
}

// One case an event; splitting it would hide that the list is whole.
// oxlint-disable-next-line complexity, max-lines-per-function
function apply(record: RunRecord, { event, at }: StoredEvent): RunRecord {
  switch (event.type) {
    case "run-created":
      return record;
    case "run-adopted":
      return { ...record, owner: event.owner };
    case "stage-intent":
      return {
        ...record,
        stages: [
          ...record.stages,
          { stage: event.stage, startedAt: at, endedAt: null, outcome: "running" },
        ],
      };
    case "stage-done":
      return {
        ...endStage(record, { stage: event.stage, at, outcome: "done" }),
        outputs: { ...record.outputs, [event.stage]: event.output },
      };
    case "stage-failed":
      return endStage(record, { stage: event.stage, at, outcome: "failed" });
    case "stage-undone":
      return record;
    case "agent-version":
      return { ...record, agentVersion: event.version };
    case "task-selected":
      return { ...record, task: event.task };
    case "run-ready":
      return {
        ...record,
        state: "ready",
        branch: event.branch,
        head: event.head,
        endedAt: at,
        failure: null,
      };
    case "run-failed": {
      const { type: _type, ...failure } = event;
      return { ...record, state: "failed", endedAt: at, failure };
    }
    case "run-interrupted":
      return {
        ...record,
        state: "interrupted",
        endedAt: at,
        failure: {
          stage: event.stage,
          code: "interrupted",
          message: event.message,
          cure: "Run `guardloop run` again.",
          details: [],
        },
      };
    case "validated":
      return {
        ...record,
        validation: event.validation,
        validations: { ...record.validations, [event.validation.tree]: event.validation },
      };
    case "salvaged":
      return { ...record, salvagedPatches: event.patches };
    case "snapshot-kept":
      return {
        ...record,
        keptSnapshot: { path: event.path, sizeBytes: event.sizeBytes, until: event.until },
      };
    case "snapshot-removed":
      return { ...record, keptSnapshot: null };
    case "promotion-intent":
    case "rollback-intent":
      return { ...record, intent: event };
    case "run-promoted":
      return {
        ...record,
        state: "promoted",
        promotion: event,
        rollback: null,
        intent: null,
        decidedAt: at,
      };
    case "run-rolled-back":
      return { ...record, state: "rolled-back", rollback: event, intent: null, decidedAt: at };
    case "run-discarded":
      return {
        ...record,
        state: "discarded",
        discard: { at, by: event.by, why: event.why },
        intent: null,
        decidedAt: at,
      };
    case "run-restored":
      return {
        ...record,
        state: "ready",
        discard: null,
        intent: null,
        decidedAt: at,
        branchPruned: null,
      };
    case "branch-pruned": {
      const { type: _type, ...pruned } = event;
      return { ...record, branchPruned: { at, ...pruned } };
    }
    case "record-removed": {
      const { type: _type, ...removed } = event;
      return { ...record, recordRemoved: { at, ...removed } };
    }
    case "branch-returned":
      return { ...record, branchPruned: null };
    default:
      return unreachable(event);
  }
}

function endStage(
  record: RunRecord,
  end: { readonly stage: StageName; readonly at: string; readonly outcome: "done" | "failed" },
): RunRecord {
  return {
    ...record,
    stages: record.stages.map((timing) =>
      timing.stage === end.stage && timing.endedAt === null
        ? { ...timing, endedAt: end.at, outcome: end.outcome }
        : timing,
    ),
  };
}
