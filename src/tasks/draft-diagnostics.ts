import { isTaskId } from "../core/ids.ts";
import type { DependencyReading } from "./dependencies.ts";
import type { DraftTask } from "./draft-task.ts";
import { shown } from "./shown.ts";
import { STATUS_WORDS_TO_USE } from "./status.ts";
import type { PlanDiagnostic } from "./task.ts";

/** What a person should know about one task: a bad id, an unknown status, dependencies that cannot be checked. */
export function diagnosticsOfDraft(
  draft: DraftTask,
  reading: DependencyReading,
): readonly PlanDiagnostic[] {
  const id = shown(draft.id);
  const diagnostics: PlanDiagnostic[] = [];
  const { file } = draft.position;
  if (!isTaskId(draft.id)) {
    diagnostics.push({
      message: `The task id ${id} cannot be part of a branch name, so the task is not run; use up to 64 letters, digits, hyphens, underscores and single dots.`,
      position: draft.position,
    });
  }
  if (draft.refusal !== null && draft.status === "unknown") {
    diagnostics.push({
      message: `Task ${id} ${draft.refusal}, so it is not run; keep one.`,
      position: draft.statusPosition,
    });
  } else if (draft.status === "unknown") {
    diagnostics.push({
      message: `Task ${id} has ${draft.statusText === "" ? "an empty status" : `the unknown status "${shown(draft.statusText)}"`}, so it is not run; use one of ${STATUS_WORDS_TO_USE}.`,
      position: draft.statusPosition,
    });
  }
  if (draft.status === "done" || draft.status === "skip") return diagnostics;
  for (const dependency of reading.dependencies) {
    if (dependency.kind === "task") continue;
    diagnostics.push({
      message: `Task ${id} depends on ${shown(dependency.id)}, which is not a task of this plan, so it is not run; correct the id.`,
      position: { file, line: dependency.line },
    });
  }
  for (const remark of reading.remarks) {
    diagnostics.push({
      message: `Task ${id} depends on "${shown(remark.text)}", which names no task and is not checked.`,
      position: { file, line: remark.line },
    });
  }
  return diagnostics;
}

/** Names both places; its own position is the later one. */
export function duplicateDiagnostic(draft: DraftTask, first: DraftTask): PlanDiagnostic {
  const how = draft.id === first.id ? "" : ` as ${shown(first.id)} (case does not count)`;
  return {
    message: `The task id ${shown(draft.id)} is used already at ${first.position.file}:${first.position.line}${how}, so neither is run; rename one.`,
    position: draft.position,
  };
}
