import type { List, ListItem, Paragraph, RootContent, Table } from "mdast";
import type { MarkdownChunk } from "./markdown.ts";
import { parseMarkdown, sourceLines } from "./markdown.ts";
import { type TextLine, textLines } from "./phrasing.ts";
import type { PlanLine } from "./plan-line.ts";
import { splitFields, splitLabel } from "./plan-line.ts";
import { fieldsOfTable } from "./plan-table.ts";
import type { PlanFile } from "./task.ts";

/** A plan file ready for the formats to read. */
export interface PlanDocument {
  readonly path: string;
  readonly lines: readonly PlanLine[];
  /** The YAML between the `---` lines and the line in the file its text begins at. */
  readonly frontMatter: { readonly yaml: string; readonly line: number } | null;
  /** Why nothing could be read; then there are no lines. */
  readonly problem: { readonly message: string; readonly line: number } | null;
}

interface Place {
  readonly lineOffset: number;
  readonly source: readonly string[];
  readonly container: PlanLine["container"];
  /** For each list around, the column its text begins in. */
  readonly columns: readonly number[];
}

/** Never throws. */
export function readDocument(file: PlanFile): PlanDocument {
  const source = sourceLines(file.text);
  const empty = { path: file.path, lines: [], frontMatter: null };
  // Most files below docs/tasks that are not tasks end here, without the cost of a parse.
  if (!/status/i.test(file.text)) return { ...empty, problem: null };
  const parsed = parseMarkdown(source);
  if (parsed.kind === "refused") return { ...empty, problem: parsed };
  const first = parsed.chunks[0]?.nodes[0];
  return {
    path: file.path,
    lines: parsed.chunks.flatMap((chunk) => linesOfChunk(chunk, source)),
    frontMatter: first?.type === "yaml" ? { yaml: first.value, line: 2 } : null,
    problem: null,
  };
}

function linesOfChunk(chunk: MarkdownChunk, source: readonly string[]): readonly PlanLine[] {
  const place: Place = { lineOffset: chunk.lineOffset, source, container: "none", columns: [] };
  return chunk.nodes.flatMap((node) => linesOfBlock(node, place));
}

function linesOfBlock(node: RootContent, place: Place): readonly PlanLine[] {
  // Everything else (code, HTML, comments, rules) says nothing about tasks.
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check
  switch (node.type) {
    case "heading": {
      // A heading inside a quote or a list opens no section.
      if (place.container !== "none" || place.columns.length > 0) return [];
      const parts = textLines(node.children);
      const text = parts.map((part) => part.text).join(" ");
      const { label, value } = splitLabel(text, text);
      const line = (node.position?.start.line ?? 1) + place.lineOffset;
      return [
        {
          text: text.trim(),
          label,
          value,
          line,
          kind: "heading",
          level: node.depth,
          container: "none",
        },
      ];
    }
    case "paragraph":
      return linesOfParagraph(node, place);
    case "list":
      return linesOfList(node, place);
    case "blockquote":
      return node.children.flatMap((child) =>
        linesOfBlock(child, { ...place, container: "quote" }),
      );
    case "table":
      return linesOfTable(node, place);
    default:
      return [];
  }
}

function linesOfList(list: List, place: Place): readonly PlanLine[] {
  return list.children.flatMap((item: ListItem) => {
    const column = item.children[0]?.position?.start.column ?? 1;
    const inside: Place = {
      ...place,
      columns: [...place.columns, column],
      container: typeof item.checked === "boolean" ? "checkbox" : place.container,
    };
    return item.children.flatMap((child) => linesOfBlock(child, inside));
  });
}

function linesOfParagraph(paragraph: Paragraph, place: Place): readonly PlanLine[] {
  const lines: PlanLine[] = [];
  let level = place.columns.length;
  let afterLabel = false;
  for (const part of textLines(paragraph.children)) {
    const line = part.line + place.lineOffset;
    const isFirst = lines.length === 0;
    const liftedTo = isFirst ? level : liftedLevel(part, { line, place, level });
    for (const piece of splitFields(part.text, part.mask)) {
      const { label, value } = splitLabel(piece.text, piece.mask);
      if (isFirst || liftedTo < level) afterLabel = label !== null;
      const kind = lines.length === 0 || (afterLabel && label !== null) ? "start" : "continued";
      const container = liftedTo < place.columns.length ? "none" : place.container;
      lines.push({ text: piece.text.trim(), label, value, line, kind, level: liftedTo, container });
    }
    level = liftedTo;
  }
  return lines;
}

/**
 * In how many lists a later line of a paragraph is meant to be. By CommonMark's rule of lazy continuation a
 * `Dependencies:` in column 1 right below a bullet belongs to the bullet; its author meant it to stand alone.
 */
function liftedLevel(
  part: TextLine,
  at: { readonly line: number; readonly place: Place; readonly level: number },
): number {
  if (at.place.container === "quote" || !/^\s*[A-Z]/.test(part.mask)) return at.level;
  if (splitLabel(part.text, part.mask).label === null) return at.level;
  const indent = indentColumns(at.place.source[at.line - 1] ?? "");
  const outside = at.place.columns.findIndex((column) => indent < column - 1);
  return outside < 0 ? at.level : Math.min(outside, at.level);
}

function indentColumns(text: string): number {
  let columns = 0;
  for (const char of text) {
    if (char === " ") columns += 1;
    else if (char === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

function linesOfTable(table: Table, place: Place): readonly PlanLine[] {
  return fieldsOfTable(table).map((field) => ({
    text: `${field.label}: ${field.value}`,
    label: field.label,
    value: field.value,
    line: field.line + place.lineOffset,
    kind: "start",
    level: place.columns.length,
    container: place.container,
  }));
}
