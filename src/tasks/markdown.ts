import type { RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { frontmatterFromMarkdown } from "mdast-util-frontmatter";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { frontmatter } from "micromark-extension-frontmatter";
import { gfm } from "micromark-extension-gfm";
import { PLAN_LIMITS } from "./plan-limits.ts";

/** A stretch of a file with its top-level nodes; a node's line in the file is its own plus `lineOffset`. */
export interface MarkdownChunk {
  readonly nodes: readonly RootContent[];
  readonly lineOffset: number;
}

export type MarkdownResult =
  | { readonly kind: "parsed"; readonly chunks: readonly MarkdownChunk[] }
  | { readonly kind: "refused"; readonly message: string; readonly line: number };

/** Chunks shorter than this are not worth a parse of their own. */
const MIN_CHUNK_CHARS = 8 * 1024;
const TOP_LEVEL_HEADING = /^#{1,6}[ \t]/;

/** Link definitions and footnotes mean nothing here, and their parsing is slow on hostile text. */
const WITHOUT_REFERENCES = {
  disable: {
    null: [
      "definition",
      "gfmFootnoteDefinition",
      "gfmFootnoteCall",
      "gfmPotentialFootnoteCall",
      "wwwAutolink",
      "protocolAutolink",
      "emailAutolink",
    ],
  },
};
const EXTENSIONS = [gfm(), frontmatter(), WITHOUT_REFERENCES];
/** Without the extension that looks for links in finished text: it recurses, and links are not needed. */
const TREE_EXTENSIONS = [
  ...gfmFromMarkdown().filter((extension) => extension.transforms === undefined),
  frontmatterFromMarkdown(),
];

/** Lines as CommonMark 0.31 section 2.1 counts them, without the byte order mark. */
export function sourceLines(text: string): readonly string[] {
  return text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
}

/**
 * Parses GitHub Flavored Markdown with YAML front matter. Never throws: text that would take too long, or
 * that overflows the parser, is refused with a sentence and the line it begins at.
 *
 * The text is cut before headings in column 1, since the parser's time grows faster than the text. Such a
 * heading ends every open block but a fence and an HTML block; a cut inside one of those is moved on.
 */
export function parseMarkdown(lines: readonly string[]): MarkdownResult {
  const tooDeep = lines.findIndex((line) => nestsTooDeep(line));
  if (tooDeep >= 0) return refused("is nested too deeply", tooDeep);
  const chunks: MarkdownChunk[] = [];
  let from = 0;
  let minChars = MIN_CHUNK_CHARS;
  while (from < lines.length) {
    const to = chunkEnd(lines, { from, minChars });
    const text = lines.slice(from, to).join("\n");
    if (text.length > PLAN_LIMITS.sectionChars) {
      return refused(`is a stretch of more than ${PLAN_LIMITS.sectionChars} characters`, from);
    }
    const nodes = parseChunk(text);
    if (nodes === null) return refused("cannot be parsed", from);
    if (to < lines.length && mayContinue(nodes.at(-1))) {
      minChars = text.length * 2;
      continue;
    }
    chunks.push({ nodes, lineOffset: from });
    from = to;
    minChars = MIN_CHUNK_CHARS;
  }
  return { kind: "parsed", chunks };
}

function refused(problem: string, lineIndex: number): MarkdownResult {
  return {
    kind: "refused",
    message: `What begins here ${problem}, so no task of this file is read. Simplify or split it.`,
    line: lineIndex + 1,
  };
}

const THEMATIC_BREAK = /^[ \t]*(?:(?:-[ \t]*)+|(?:\*[ \t]*)+)$/;

function nestsTooDeep(line: string): boolean {
  if (THEMATIC_BREAK.test(line)) return false;
  const prefix = /^(?:[ \t]|>|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))*/.exec(line)?.[0] ?? "";
  const markers = prefix.match(/[>*+-]|\d+[.)]/g)?.length ?? 0;
  if (markers > PLAN_LIMITS.nesting) return true;
  const indent = line.length - line.trimStart().length;
  return markers > 0 && indent > PLAN_LIMITS.indentColumns;
}

function chunkEnd(
  lines: readonly string[],
  start: { readonly from: number; readonly minChars: number },
): number {
  let chars = 0;
  for (let index = start.from; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    if (chars >= start.minChars && TOP_LEVEL_HEADING.test(line)) return index;
    chars += line.length + 1;
  }
  return lines.length;
}

function parseChunk(text: string): readonly RootContent[] | null {
  try {
    return fromMarkdown(text, { extensions: EXTENSIONS, mdastExtensions: TREE_EXTENSIONS })
      .children;
  } catch {
    // Only a stack overflow is known to end here, and hostile text must not end the process.
    return null;
  }
}

function mayContinue(last: RootContent | undefined): boolean {
  return last?.type === "code" || last?.type === "html";
}
