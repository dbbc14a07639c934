import { FIELD_BY_LABEL, type TaskField } from "./field-labels.ts";
import { type PlanLine, labelName } from "./plan-line.ts";

/** A piece of text of a section with the line it begins at. */
export interface FieldText {
  readonly text: string;
  readonly line: number;
}

export interface SectionFields {
  /** Status lines directly below the heading or, when there is none, in sub-sections. */
  readonly statuses: readonly FieldText[];
  /** A Status line in the middle of prose: not read, but worth a word. */
  readonly statusInProse: FieldText | null;
  readonly dependencies: readonly FieldText[];
  readonly acceptance: readonly FieldText[];
}

/** The label whose list or paragraph is being read. */
interface Owner {
  readonly field: TaskField | "other";
  readonly kind: "label" | "heading";
  readonly level: number;
  /** What it has taken so far, its inline value included. */
  entries: number;
  items: number;
}

interface Reading {
  owner: Owner | null;
  inSubSection: boolean;
  readonly direct: FieldText[];
  readonly below: FieldText[];
  readonly dependencies: FieldText[];
  readonly acceptance: FieldText[];
  statusInProse: FieldText | null;
  /** The list the last line went to, so that its continuation can join it. */
  last: FieldText[] | null;
}

/** Reads the labelled fields of one section: the lines after its heading. */
export function readFields(lines: readonly PlanLine[]): SectionFields {
  const reading: Reading = {
    owner: null,
    inSubSection: false,
    direct: [],
    below: [],
    dependencies: [],
    acceptance: [],
    statusInProse: null,
    last: null,
  };
  for (const line of lines) readLine(line, reading);
  return {
    statuses: reading.direct.length > 0 ? reading.direct : reading.below,
    statusInProse: reading.statusInProse,
    dependencies: reading.dependencies,
    acceptance: reading.acceptance,
  };
}

function readLine(line: PlanLine, reading: Reading): void {
  if (line.kind === "heading") {
    const field = FIELD_BY_LABEL.get(labelName(line.text.replace(/[:：]\s*$/, "")));
    reading.owner =
      field === undefined || field === "status"
        ? null
        : { field, kind: "heading", level: 0, entries: 0, items: 0 };
    reading.inSubSection = true;
    reading.last = null;
  } else if (line.kind === "continued" && joins(line, reading)) {
    continueLast(line, reading);
  } else if (reading.owner !== null && owns(reading.owner, line)) {
    reading.owner.entries += 1;
    if (line.level > reading.owner.level) reading.owner.items += 1;
    add(listOf(reading.owner.field, reading), { text: line.text, line: line.line }, reading);
  } else {
    readUnowned(line, reading);
  }
}

function readUnowned(line: PlanLine, reading: Reading): void {
  const field = FIELD_BY_LABEL.get(line.label ?? "");
  reading.last = null;
  reading.owner = null;
  if (field === "status") {
    readStatus(line, reading);
  } else if (line.kind === "start" && line.label !== null) {
    openLabel(line, field ?? "other", reading);
  }
}

function readStatus(line: PlanLine, reading: Reading): void {
  const entry = { text: line.value, line: line.line };
  if (line.kind === "continued") {
    reading.statusInProse ??= entry;
    return;
  }
  // Deeper than one list, or a box to tick, it is a note about something and not the task's own field.
  if (line.level > 1 || line.container === "checkbox") return;
  add(reading.inSubSection ? reading.below : reading.direct, entry, reading);
}

function openLabel(line: PlanLine, field: Owner["field"], reading: Reading): void {
  const hasValue = line.value !== "";
  // `Objective: fast` says all there is; `Objective:` owns the list or paragraph that follows.
  if (field === "other" && hasValue) return;
  const { level } = line;
  reading.owner = { field, kind: "label", level, entries: hasValue ? 1 : 0, items: 0 };
  if (hasValue) add(listOf(field, reading), { text: line.value, line: line.line }, reading);
}

/** Whether the line belongs to the list or paragraph of the label above it. */
function owns(owner: Owner, line: PlanLine): boolean {
  if (line.level !== owner.level) return line.level > owner.level;
  const isField = line.label !== null && FIELD_BY_LABEL.has(line.label);
  if (isField || (line.label !== null && line.value === "")) return false;
  if (owner.kind === "heading") return true;
  return (
    owner.entries === 0 ||
    (owner.field === "acceptance" && owner.items === 0 && line.label === null)
  );
}

/** A status goes on in the next line only when the sentence clearly does: `Status: ready` / `for review`. */
function joins(line: PlanLine, reading: Reading): boolean {
  if (reading.last === null) return false;
  const isStatus = reading.last === reading.direct || reading.last === reading.below;
  return !isStatus || /^\p{Ll}/u.test(line.text);
}

function continueLast(line: PlanLine, reading: Reading): void {
  const entry = reading.last?.pop();
  if (entry === undefined) return;
  reading.last?.push({ text: `${entry.text} ${line.text}`, line: entry.line });
}

function listOf(field: Owner["field"], reading: Reading): FieldText[] | null {
  if (field === "dependencies") return reading.dependencies;
  return field === "acceptance" ? reading.acceptance : null;
}

function add(list: FieldText[] | null, entry: FieldText, reading: Reading): void {
  list?.push(entry);
  reading.last = list;
}
