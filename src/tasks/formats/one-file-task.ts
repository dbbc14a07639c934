import type { DraftTask, FormatResult } from "../draft-task.ts";
import { type SettledStatus, settleStatus } from "../draft-task.ts";
import { type FieldText, readFields } from "../fields.ts";
import { type FrontMatter, readFrontMatter } from "../front-matter.ts";
import type { PlanDocument } from "../plan-document.ts";
import type { PlanLine } from "../plan-line.ts";
import type { PlanDiagnostic } from "../task.ts";
import { readTaskHeading } from "../task-heading.ts";

/** Files that say something about tasks and are none, by stem. */
const NOT_A_TASK =
  /^(?:_.*|readme|index|template|tasks?|todo|plan|backlog|roadmap|task[-_ ]?plan)$/i;
const PLAN_TITLE = /\b(?:task plan|tasks|backlog|roadmap)$/i;

/** The parts of a file that may be one task. */
interface Parts {
  readonly stem: string;
  readonly frontMatter: FrontMatter | null;
  readonly title: PlanLine | null;
  /** Between the title and the next heading, quotes included. */
  readonly header: readonly PlanLine[];
  readonly rest: readonly PlanLine[];
}

/**
 * One task in a file: a first-rank heading with a `Status:` line, list or quoted block (`> Status: ready`) below
 * it, or YAML front matter. The id is the front matter's, else the heading's (`# US-008: Title`), else the file's
 * stem. Null when the file is something else.
 *
 * Given that the file has heading tasks, only an id in the front matter makes it one task: any other status at its
 * top is about the whole file and must not make a task.
 */
export function readOneFileTask(
  document: PlanDocument,
  headingTasks: "present" | "absent",
): FormatResult | null {
  const parts = splitParts(document);
  const givenId = parts.frontMatter?.id ?? null;
  const mayBePlan = headingTasks === "present" || NOT_A_TASK.test(parts.stem);
  if (mayBePlan && givenId === null) return null;
  const id = givenId?.text ?? idWithoutFrontMatter(parts);
  if (id === null) return null;
  const status = settleStatus(statusesOf(parts), document.path);
  const diagnostics = frontMatterDiagnostics(parts.frontMatter, document.path);
  if (status !== null)
    return { drafts: [toDraft(document.path, { parts, id, status })], diagnostics };
  if (givenId !== null) diagnostics.push(noStatus(givenId, document.path));
  return diagnostics.length === 0 ? null : { drafts: [], diagnostics };
}

function toDraft(
  path: string,
  found: { readonly parts: Parts; readonly id: string; readonly status: SettledStatus },
): DraftTask {
  const { parts, id, status } = found;
  const fields = readFields([...parts.header, ...parts.rest]);
  const line = parts.title?.line ?? parts.frontMatter?.id?.line ?? status.statusPosition.line;
  return {
    id,
    title: titleOf(parts, id),
    ...status,
    refusal: status.refusal ?? frontMatterRefusal(parts.frontMatter),
    dependencyTexts: fields.dependencies,
    dependencyIds: parts.frontMatter?.dependencies ?? [],
    acceptance: fields.acceptance.map((entry) => entry.text),
    position: { file: path, line },
  };
}

function splitParts(document: PlanDocument): Parts {
  const { lines } = document;
  const headings = lines.flatMap((line, index) => (line.kind === "heading" ? [index] : []));
  const [first, second = lines.length] = headings;
  const title = first === undefined ? undefined : lines[first];
  const base = {
    stem: (document.path.split("/").at(-1) ?? "").replace(/\.[^.]*$/, ""),
    frontMatter:
      document.frontMatter === null
        ? null
        : readFrontMatter(document.frontMatter.yaml, document.frontMatter.line),
  };
  if (first === undefined || title === undefined || title.level !== 1) {
    return { ...base, title: null, header: [], rest: lines.filter(isOwnText) };
  }
  return {
    ...base,
    title,
    header: lines.slice(first + 1, second),
    rest: lines.slice(second).filter(isOwnText),
  };
}

function isOwnText(line: PlanLine): boolean {
  return line.container !== "quote";
}

function idWithoutFrontMatter(parts: Parts): string | null {
  const heading = parts.title === null ? null : readTaskHeading(parts.title.text);
  if (heading !== null) return heading.id;
  return isPlan(parts) ? null : parts.stem;
}

/** A plan whose tasks cannot be read (no status, or finished and cleared) is not one big task. */
function isPlan(parts: Parts): boolean {
  if (parts.title !== null && PLAN_TITLE.test(parts.title.text.trim())) return true;
  return parts.rest.some(
    (line) => line.kind === "heading" && /^(?!AC)[A-Z]/i.test(readTaskHeading(line.text)?.id ?? ""),
  );
}

/** Front matter and header both count: when they disagree, neither is believed. */
function statusesOf(parts: Parts): readonly FieldText[] {
  const inHeader = readFields(parts.header).statuses;
  const inFrontMatter = parts.frontMatter?.status ?? null;
  return inFrontMatter === null ? inHeader : [inFrontMatter, ...inHeader];
}

function titleOf(parts: Parts, id: string): string {
  const heading = parts.title === null ? null : readTaskHeading(parts.title.text);
  return parts.frontMatter?.title?.text ?? heading?.title ?? parts.title?.text ?? id;
}

function frontMatterRefusal(frontMatter: FrontMatter | null): string | null {
  const problem = frontMatter?.problem ?? null;
  return problem === null ? null : `has front matter that ${problem.text} (line ${problem.line})`;
}

function frontMatterDiagnostics(frontMatter: FrontMatter | null, path: string): PlanDiagnostic[] {
  const problem = frontMatter?.problem ?? null;
  if (problem === null) return [];
  return [
    {
      message: `The front matter ${problem.text}, so the task is not run; correct it here.`,
      position: { file: path, line: problem.line },
    },
  ];
}

function noStatus(id: FieldText, path: string): PlanDiagnostic {
  return {
    message:
      "The front matter has an id but the file has no status, so it is not read as a task; add `status: ready`.",
    position: { file: path, line: id.line },
  };
}
