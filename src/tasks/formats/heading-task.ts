import type { DraftTask, FormatResult } from "../draft-task.ts";
import { settleStatus } from "../draft-task.ts";
import { type SectionFields, readFields } from "../fields.ts";
import type { PlanDocument } from "../plan-document.ts";
import type { PlanLine } from "../plan-line.ts";
import { shown } from "../shown.ts";
import { normaliseStatus } from "../status.ts";
import type { PlanDiagnostic } from "../task.ts";
import { type TaskHeading, readTaskHeading } from "../task-heading.ts";

/** Indexes into the lines: the first after the heading, and the first that is no longer inside. */
interface Section {
  readonly from: number;
  readonly to: number;
}

/**
 * Shapes A to D: many tasks in a file, each a heading with an id (`## T1 — Title`, `### TASK-0001: Title`,
 * `### [TASK-12] Title`) and a Status line in its own section.
 *
 * A section reaches to the next heading of the same or a higher rank, without the tasks nested in it. An only
 * first-rank heading is the file's title: a status below it is about the file and makes no task.
 */
export function readHeadingTasks(document: PlanDocument): FormatResult {
  // Quoted text shows something; only the one-file format has its fields in a quote.
  const lines = document.lines.filter((line) => line.container !== "quote");
  const titles = lines.filter((line) => line.kind === "heading" && line.level === 1).length;
  const drafts: DraftTask[] = [];
  const taskSections: Section[] = [];
  const diagnostics: PlanDiagnostic[] = [];
  // From the last heading to the first, so that nested tasks are known before what they are nested in.
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index];
    if (line?.kind !== "heading" || (line.level === 1 && titles === 1)) continue;
    const heading = readTaskHeading(line.text);
    if (heading === null) continue;
    const section = { from: index + 1, to: sectionEnd(lines, index) };
    const fields = readFields(withoutNested(lines, section, taskSections));
    const draft = toDraft(document.path, { heading, line, fields });
    if (draft !== null) {
      drafts.push(draft);
      taskSections.push(section);
    } else if (fields.statusInProse !== null) {
      diagnostics.push(statusInProse(heading, { ...fields.statusInProse, path: document.path }));
    }
  }
  return {
    drafts: drafts.toReversed(),
    diagnostics: [...diagnostics.toReversed(), ...missingIds(document.path, lines, taskSections)],
  };
}

function toDraft(
  path: string,
  found: {
    readonly heading: TaskHeading;
    readonly line: PlanLine;
    readonly fields: SectionFields;
  },
): DraftTask | null {
  const status = settleStatus(found.fields.statuses, path);
  if (status === null) return null;
  return {
    ...found.heading,
    ...status,
    dependencyTexts: found.fields.dependencies,
    dependencyIds: [],
    acceptance: found.fields.acceptance.map((entry) => entry.text),
    position: { file: path, line: found.line.line },
  };
}

function nextHeading(lines: readonly PlanLine[], from: number): number {
  for (let index = from + 1; index < lines.length; index += 1) {
    if (lines[index]?.kind === "heading") return index;
  }
  return lines.length;
}

function sectionEnd(lines: readonly PlanLine[], heading: number): number {
  const rank = lines[heading]?.level ?? 0;
  for (let index = heading + 1; index < lines.length; index += 1) {
    const line = lines[index];
    if (line?.kind === "heading" && line.level <= rank) return index;
  }
  return lines.length;
}

/** `taskSections` is ordered from the last to the first, as the caller fills it. */
function withoutNested(
  lines: readonly PlanLine[],
  section: Section,
  taskSections: readonly Section[],
): readonly PlanLine[] {
  const kept: (readonly PlanLine[])[] = [];
  let cursor = section.from;
  for (let index = taskSections.length - 1; index >= 0; index -= 1) {
    const nested = taskSections[index];
    if (nested === undefined || nested.from > section.to) break;
    // Its heading goes with it. A section nested in one already left out lies behind the cursor.
    if (nested.from - 1 < cursor) continue;
    kept.push(lines.slice(cursor, nested.from - 1));
    cursor = nested.to;
  }
  kept.push(lines.slice(cursor, section.to));
  return kept.flat();
}

function statusInProse(
  heading: TaskHeading,
  at: { readonly path: string; readonly line: number },
): PlanDiagnostic {
  return {
    message: `The Status of ${shown(heading.id)} stands in the middle of a paragraph, so ${shown(heading.id)} is not read as a task; put an empty line above it.`,
    position: { file: at.path, line: at.line },
  };
}

/** Sections that look ready to run but have no id, outside of any task: likely a task we cannot name. */
function missingIds(
  path: string,
  lines: readonly PlanLine[],
  taskSections: readonly Section[],
): readonly PlanDiagnostic[] {
  const endByHeading = new Map(taskSections.map((section) => [section.from - 1, section.to]));
  const diagnostics: PlanDiagnostic[] = [];
  let coveredTo = 0;
  for (const [index, line] of lines.entries()) {
    coveredTo = Math.max(coveredTo, endByHeading.get(index) ?? 0);
    if (line.kind !== "heading" || line.level === 1 || index < coveredTo) continue;
    const { statuses } = readFields(lines.slice(index + 1, nextHeading(lines, index)));
    const status = normaliseStatus(statuses[0]?.text ?? "");
    if (status !== "ready" && status !== "planned") continue;
    diagnostics.push({
      message: `This section has the status ${status} but its heading has no task id, so it is not read as a task; write it as \`${"#".repeat(line.level)} T1 — Title\`.`,
      position: { file: path, line: line.line },
    });
  }
  return diagnostics;
}
