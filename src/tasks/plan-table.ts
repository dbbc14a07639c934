import type { Table, TableCell } from "mdast";
import { FIELD_BY_LABEL } from "./field-labels.ts";
import { textLines } from "./phrasing.ts";
import { labelName } from "./plan-line.ts";

interface Cell {
  readonly text: string;
  readonly line: number;
}

export interface TableField {
  readonly label: string;
  readonly value: string;
  /** Within the parsed chunk. */
  readonly line: number;
}

/**
 * The fields of a table that describes one task: two columns, a field's name on the left. Any other table (an
 * acceptance mapping with a column `Status`, a list of tasks) has none.
 */
export function fieldsOfTable(table: Table): readonly TableField[] {
  const rows = table.children.map((row) => row.children.map((cell) => readCell(cell)));
  if (rows[0]?.length !== 2) return [];
  return rows.flatMap(([name, value]) => toField(name, value));
}

function toField(name: Cell | undefined, value: Cell | undefined): readonly TableField[] {
  if (name === undefined || !FIELD_BY_LABEL.has(fieldName(name.text))) return [];
  return [
    { label: fieldName(name.text), value: value?.text ?? "", line: value?.line ?? name.line },
  ];
}

function fieldName(text: string): string {
  return labelName(text.replace(/[:：]\s*$/, ""));
}

function readCell(cell: TableCell): Cell {
  const parts = textLines(cell.children);
  const text = parts.map((part) => part.text).join(" ");
  return { text: text.trim(), line: cell.position?.start.line ?? 1 };
}
