import type { Nodes, PhrasingContent } from "mdast";

/** One source line of a paragraph or heading, without markup. */
export interface TextLine {
  readonly text: string;
  /** As long as `text`, with inline code blotted out: a label inside code is not a label. */
  readonly mask: string;
  /** Within the parsed chunk. */
  readonly line: number;
}

const BLOT = "\uFFFC";
const LINE_END = /\r\n|\r|\n/;

/**
 * The text of inline content, a line each. Struck-through text, images, HTML and comments are left out, so
 * `Status: ~~ready~~ done` reads as done. Iterative: emphasis can nest as deep as the text is long.
 */
export function textLines(content: readonly PhrasingContent[]): readonly TextLine[] {
  const lines: TextLine[] = [];
  const stack: Nodes[] = content.toReversed();
  let join: "same-line" | "new-line" = "same-line";
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ("children" in node) {
      if (node.type === "delete") continue;
      for (const child of node.children.toReversed()) stack.push(child);
    } else if (node.type === "html") {
      if (/^<br\s*\/?>$/i.test(node.value)) join = "new-line";
    } else {
      for (const part of partsOf(node)) {
        append(lines, part, join);
        join = "same-line";
      }
    }
  }
  return lines;
}

function partsOf(node: Nodes): readonly TextLine[] {
  const start = node.position?.start.line ?? 1;
  const end = node.position?.end.line ?? start;
  if (node.type === "text") {
    return node.value.split(LINE_END).map((text, index) => {
      // A character reference can put a line end into a value that has none in the source.
      const line = Math.min(start + index, end);
      return { text, mask: text, line };
    });
  }
  if (node.type === "inlineCode") {
    const text = node.value.replaceAll(/[\r\n]/g, " ");
    return [{ text, mask: BLOT.repeat(text.length), line: start }];
  }
  return [];
}

function append(lines: TextLine[], part: TextLine, join: "same-line" | "new-line"): void {
  const last = lines.at(-1);
  if (last === undefined || last.line !== part.line || join === "new-line") {
    lines.push(part);
  } else {
    const text = last.text + part.text;
    lines[lines.length - 1] = { text, mask: last.mask + part.mask, line: part.line };
  }
}
