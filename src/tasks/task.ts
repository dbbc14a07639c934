/** A place in the plan. Lines count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
}

export const TASK_STATUSES = [
  "ready",
  "planned",
  "active",
  "review",
  "done",
  "blocked",
  "skip",
  "unknown",
] as const;
/** The normalised status; `unknown` keeps the word in `statusText`. */
export type TaskStatus = (typeof TASK_STATUSES)[number];

export interface Task {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  /** The status as written. */
  readonly statusText: string;
  readonly dependencies: readonly string[];
  /** Acceptance criteria or completion signal, an entry each; for prompt and review. */
  readonly acceptance: readonly string[];
  readonly position: Position;
  readonly statusPosition: Position;
}

/** Something in a plan that a person should know: an unknown status, a duplicate id, a bad id. */
export interface PlanDiagnostic {
  readonly message: string;
  readonly position: Position;
}

/** A task with the verdict whether it can be run now. */
export interface JudgedTask extends Task {
  /** Null when runnable, else the reason in a few words, for the table. */
  readonly notRunnable: string | null;
}

export interface PlanFile {
  /** Path relative to the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface TaskPlan {
  /** In the order of the plan. Every task with a valid or invalid id, duplicates included. */
  readonly tasks: readonly JudgedTask[];
  readonly diagnostics: readonly PlanDiagnostic[];
}
