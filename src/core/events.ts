import type { FailureCode } from "./failures.ts";
import type { Attempt, Validation } from "./run-spec.ts";
import type { StageName } from "./stage-name.ts";
import type { NetworkMode } from "./network.ts";

export interface RecordedOwner {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  readonly host: string;
}

/** `fast-forward`: the reviewed commits themselves. `rebase`, `squash`: new commits, where the branch had moved or one was wanted. */
export type PromotionWay = "fast-forward" | "rebase" | "squash";

/** `reset`: back to where the branch was. `revert`: new commits that undo it. */
export type RollbackWay = "reset" | "revert";

interface PromotionFacts {
  readonly how: PromotionWay;
  readonly before: string;
  readonly after: string;
  readonly by: string;
  readonly why: string;
  readonly accepted: readonly string[];
  /** Why a failed or missing validation was passed over; null when it was not. */
  readonly withoutValidation: string | null;
}

interface RollbackFacts {
  readonly how: RollbackWay;
  readonly before: string;
  readonly after: string;
  readonly by: string;
  readonly why: string;
}

/** Written before the checkout is touched, so that a crash between the move and its record loses nothing. */
export type DecisionIntent =
  | ({ readonly type: "promotion-intent" } & PromotionFacts)
  | ({ readonly type: "rollback-intent" } & RollbackFacts);

/** What happened to a run. Appended, never changed; the state of a run is a fold over its events. */
export type RunEvent =
  | {
      readonly type: "run-created";
      readonly repositoryId: string;
      readonly topLevel: string;
      readonly branch: string;
      readonly base: string;
      readonly parentRun: string | null;
      readonly specHash: string;
      readonly agent: string;
      readonly network: NetworkMode;
      /** Of the spec; the event itself is later where a lost record was rebuilt. Absent in the oldest records. */
      readonly startedAt?: string;
      /** Tasks that were offered: its own while the run is running, until it selects one. Absent in the oldest records. */
      readonly claims?: readonly string[];
      readonly attempt?: Attempt | null;
      readonly owner: RecordedOwner;
    }
  /** Another process goes on with the run, since the owner had died and the container was still there. */
  | { readonly type: "run-adopted"; readonly owner: RecordedOwner }
  | { readonly type: "stage-intent"; readonly stage: StageName }
  | { readonly type: "stage-done"; readonly stage: StageName; readonly output: unknown }
  | { readonly type: "stage-failed"; readonly stage: StageName; readonly code: FailureCode }
  | { readonly type: "stage-undone"; readonly stage: StageName }
  /** What the agent's program said of itself when the guest asked; harmless to print. */
  | { readonly type: "agent-version"; readonly version: string }
  | { readonly type: "task-selected"; readonly task: string }
  | { readonly type: "run-ready"; readonly branch: string; readonly head: string }
  | {
      readonly type: "run-failed";
      readonly stage: StageName;
      readonly code: FailureCode;
      readonly message: string;
      readonly cure: string;
      readonly details: readonly string[];
    }
  | { readonly type: "run-interrupted"; readonly stage: StageName; readonly message: string }
  | { readonly type: "validated"; readonly validation: Validation }
  | { readonly type: "salvaged"; readonly patches: number }
  | {
      readonly type: "snapshot-kept";
      readonly path: string;
      readonly sizeBytes: number;
      readonly until: string;
    }
  | { readonly type: "snapshot-removed" }
  | DecisionIntent
  | ({ readonly type: "run-promoted" } & PromotionFacts)
  | ({ readonly type: "run-rolled-back" } & RollbackFacts)
  | { readonly type: "run-discarded"; readonly by: string; readonly why: string }
  | { readonly type: "run-restored"; readonly by: string }
  | {
      /** The ref that led to a landed or discarded run's commits was removed, with nothing about the run's state. */
      readonly type: "branch-pruned";
      readonly ref: string;
      readonly head: string;
      readonly because: "landed" | "discarded";
      readonly by: string;
    }
  | {
      /** Written before the directory of the record goes; the events stay. */
      readonly type: "record-removed";
      readonly because: "landed" | "discarded" | "empty";
      readonly sizeBytes: number;
      readonly by: string;
    }
  /** A pruned branch is there again, since its run was rolled back. */
  | { readonly type: "branch-returned"; readonly by: string };

export interface StoredEvent {
  readonly seq: number;
  readonly runId: string;
  /** ISO 8601, UTC, with milliseconds. */
  readonly at: string;
  readonly event: RunEvent;
}
