import { type FieldText } from "./fields.ts";
import { normaliseStatus } from "./status.ts";
import type { PlanDiagnostic, Position, Task } from "./task.ts";

/** A task as its file gives it, before it is compared with the rest of the plan. */
export interface DraftTask extends Omit<Task, "dependencies"> {
  /** As written; which task each means is known when all files are read. */
  readonly dependencyTexts: readonly FieldText[];
  /** Ids from front matter: each is an id, where in prose it might be a remark. */
  readonly dependencyIds: readonly FieldText[];
  /** Why its own file keeps it from being run, whatever its status says; null for most. */
  readonly refusal: string | null;
}

export type SettledStatus = Pick<DraftTask, "status" | "statusText" | "statusPosition" | "refusal">;

/** What a format found in one file. */
export interface FormatResult {
  readonly drafts: readonly DraftTask[];
  readonly diagnostics: readonly PlanDiagnostic[];
}

/** The status fields of a draft from the Status lines of its section; of several, all must mean the same. */
export function settleStatus(statuses: readonly FieldText[], file: string): SettledStatus | null {
  const [first] = statuses;
  if (first === undefined) return null;
  const status = normaliseStatus(first.text);
  const statusPosition: Position = { file, line: first.line };
  const other = statuses.find((candidate) => normaliseStatus(candidate.text) !== status);
  if (other === undefined) return { status, statusText: first.text, statusPosition, refusal: null };
  return {
    status: "unknown",
    statusText: `${first.text} / ${other.text}`,
    statusPosition,
    refusal: `has two Status lines that differ (lines ${first.line} and ${other.line})`,
  };
}
