import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import { type Result, err, ok } from "../core/result.ts";

/** Line and column, both counted from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** One key of a document, with the path of names that leads to it. Inline tables are taken apart. */
export type TomlItem =
  | {
      readonly kind: "table" | "table-list";
      readonly path: readonly string[];
      readonly at: TextPosition;
    }
  | {
      readonly kind: "value";
      readonly path: readonly string[];
      /** Where the key is. */
      readonly at: TextPosition;
      readonly value: unknown;
      /** Where the elements of a list are; empty for other values. */
      readonly elementsAt: readonly TextPosition[];
    };

export interface TomlProblem {
  readonly message: string;
  readonly at: TextPosition;
}

/**
 * Reads TOML 1.0 and keeps positions. Keys that are defined twice are syntax errors of TOML.
 *
 * @returns the items in the document's order, or the first place that is not TOML.
 */
export function readToml(document: string): Result<readonly TomlItem[], TomlProblem> {
  // Editors on Windows put a byte order mark in front; it means nothing.
  const text = document.startsWith("\uFEFF") ? document.slice(1) : document;
  try {
    const program = parseTOML(text, { tomlVersion: "1.0" });
    return ok(program.body.flatMap((top) => top.body.flatMap((node) => itemsOf(node, []))));
  } catch (error) {
    if (error instanceof ParseError) return err(syntaxProblem(error, text));
    // The parser calls itself for every level of nesting.
    if (error instanceof RangeError)
      return err({ message: "values are nested too deeply", at: { line: 1, column: 1 } });
    throw error;
  }
}

function itemsOf(
  node: AST.TOMLKeyValue | AST.TOMLTable,
  parents: readonly string[],
): readonly TomlItem[] {
  const path = [
    ...parents,
    ...node.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value)),
  ];
  const at = startOf(node.key);
  if (node.type === "TOMLTable") {
    const kind = node.kind === "array" ? "table-list" : "table";
    return [{ kind, path, at }, ...node.body.flatMap((inner) => itemsOf(inner, path))];
  }
  if (node.value.type === "TOMLInlineTable")
    return [
      { kind: "table", path, at },
      ...node.value.body.flatMap((inner) => itemsOf(inner, path)),
    ];
  const elements = node.value.type === "TOMLArray" ? node.value.elements : [];
  return [{ kind: "value", path, at, value: plain(node.value), elementsAt: elements.map(startOf) }];
}

function plain(node: AST.TOMLContentNode): unknown {
  if (node.type === "TOMLArray") return node.elements.map(plain);
  if (node.type === "TOMLInlineTable") return {};
  return node.value;
}

function startOf(node: { readonly loc: { readonly start: TextPosition } }): TextPosition {
  return { line: node.loc.start.line, column: node.loc.start.column + 1 };
}

function syntaxProblem(error: ParseError, text: string): TomlProblem {
  const incomplete = /^un(specified|terminated)/i.test(error.message);
  // The parser names the place where it gave up, which for something incomplete is the start of a later line.
  const seen = text.slice(0, error.index);
  const lines = (incomplete ? seen.trimEnd() : seen).split("\n");
  return {
    message: explain(error.message),
    at: { line: lines.length, column: (lines.at(-1) ?? "").length + 1 },
  };
}

/** The parser's sentence, in words that fit behind `file:line:column`. */
function explain(message: string): string {
  if (message === "Defining a key multiple times is invalid") return "this key is defined twice";
  if (message === "Unspecified values are invalid") return "a value is missing";
  if (message === "Unexpected character")
    return 'this is not TOML (text needs quotes: name = "value")';
  return `this is not TOML (${message.charAt(0).toLowerCase()}${message.slice(1)})`;
}
