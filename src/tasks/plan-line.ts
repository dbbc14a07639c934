/** A plan file seen as lines: what the readers of tasks work on. Code, HTML and comments are not among them. */
export interface PlanLine {
  /** Without markup, trimmed. */
  readonly text: string;
  /** `depends on` for `**Depends-On:** T1`; null when the line does not begin with a label. */
  readonly label: string | null;
  /** What follows the label; the whole text when there is none. */
  readonly value: string;
  /** In the file, from 1. */
  readonly line: number;
  /**
   * `heading`; `start`: begins a paragraph, list item or table row, or is a labelled line among labelled lines;
   * `continued`: goes on with the paragraph above.
   */
  readonly kind: "heading" | "start" | "continued";
  /** Of a heading its rank, else how many lists the line is in. */
  readonly level: number;
  readonly container: "none" | "quote" | "checkbox";
}

const LABEL = /^\s*([A-Za-z][A-Za-z0-9 _/&()'’-]{0,60}?)\s*[:：]/;
/** Longer lines are prose; looking for separators takes time that grows with the square of runs of spaces. */
const LONGEST_FIELD_ROW = 500;
const SEPARATED = /\s+[·•|]\s+/;

/** `Depends-On` and `depends_on` are the label `depends on`. */
export function labelName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, " ");
}

/** Splits `Label: value`. `mask` is the text with code blotted out, see TextLine. */
export function splitLabel(text: string, mask: string): { label: string | null; value: string } {
  const match = LABEL.exec(mask);
  if (match === null) return { label: null, value: text.trim() };
  return { label: labelName(match[1] ?? ""), value: text.slice(match[0].length).trim() };
}

/** `Priority: P1 · Status: ready` as two pieces, when every piece has a label and a value; else the text alone. */
export function splitFields(
  text: string,
  mask: string,
): readonly { readonly text: string; readonly mask: string }[] {
  if (mask.length > LONGEST_FIELD_ROW) return [{ text, mask }];
  const pieces: { text: string; mask: string }[] = [];
  let from = 0;
  for (const part of mask.split(SEPARATED)) {
    const at = mask.indexOf(part, from);
    pieces.push({ text: text.slice(at, at + part.length), mask: part });
    from = at + part.length;
  }
  const allFields = pieces.every((piece) => {
    const { label, value } = splitLabel(piece.text, piece.mask);
    return label !== null && value !== "";
  });
  return allFields ? pieces : [{ text, mask }];
}
