import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Nodes } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { toString } from "mdast-util-to-string";
import { gfm } from "micromark-extension-gfm";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** One of the project's own documents. */
export interface ProjectDocument {
  /** From the project's root. */
  readonly name: string;
  readonly text: string;
  readonly tree: Nodes;
}

export function readDocument(name: string): ProjectDocument {
  const text = readFileSync(join(ROOT, name), "utf8");
  const tree = fromMarkdown(text, {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  });
  return { name, text, tree };
}

/** Every Markdown file at the root and below docs/. */
export function allDocuments(): readonly ProjectDocument[] {
  const atRoot = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
  const below = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name));
  return [...atRoot, ...below].toSorted().map(readDocument);
}

/** All nodes of a kind, in the order of the text. */
export function nodesOf<Kind extends Nodes["type"]>(
  tree: Nodes,
  kind: Kind,
): readonly Extract<Nodes, { type: Kind }>[] {
  const own = tree.type === kind ? [tree as Extract<Nodes, { type: Kind }>] : [];
  const children: readonly Nodes[] = "children" in tree ? tree.children : [];
  return [...own, ...children.flatMap((child) => nodesOf(child, kind))];
}

/** The names that GitHub gives to headings in links. */
export function anchorsOf(document: ProjectDocument): readonly string[] {
  return nodesOf(document.tree, "heading").map((heading) =>
    toString(heading)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

export interface Table {
  /** The headings above it, the nearest last, by rank. */
  readonly under: readonly string[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tables of a document; cells are their text without markup, but for the marks of code. */
export function tablesOf(document: ProjectDocument): readonly Table[] {
  const under: string[] = [];
  const tables: Table[] = [];
  for (const node of "children" in document.tree ? document.tree.children : []) {
    if (node.type === "heading") under.splice(node.depth - 1, Infinity, toString(node));
    if (node.type !== "table") continue;
    const [head = [], ...rows] = node.children.map((row) => row.children.map(cellText));
    tables.push({ under: [...under], head, rows });
  }
  return tables;
}

/** The one table whose first heading cell is this. */
export function tableWith(document: ProjectDocument, firstHead: string): Table {
  const [table, ...more] = tablesOf(document).filter((one) => one.head[0] === firstHead);
  if (table === undefined || more.length > 0)
    throw new Error(`${document.name} has not exactly one table that begins with "${firstHead}"`);
  return table;
}

function cellText(cell: Nodes): string {
  if (cell.type === "inlineCode") return `\`${cell.value}\``;
  if ("children" in cell) return cell.children.map(cellText).join("");
  return "value" in cell ? cell.value : "";
}

/** The words between code marks in a cell. */
export function codesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
}

/** Links to files of the project that lead nowhere: no such file, or no such heading. */
export function brokenLinks(documents: readonly ProjectDocument[]): readonly string[] {
  const anchors = new Map(documents.map((document) => [document.name, anchorsOf(document)]));
  return documents.flatMap((document) =>
    nodesOf(document.tree, "link")
      .map((link) => link.url)
      .filter((url) => !/^[a-z]+:/i.test(url) && !leadsSomewhere(url, document.name, anchors))
      .map((url) => `${document.name}: ${url}`),
  );
}

function leadsSomewhere(
  url: string,
  from: string,
  anchors: ReadonlyMap<string, readonly string[]>,
): boolean {
  const [path = "", anchor] = url.split("#");
  const target = path === "" ? from : relative(ROOT, join(ROOT, dirname(from), path));
  if (target.startsWith("..") || !existsSync(join(ROOT, target))) return false;
  return anchor === undefined || (anchors.get(target)?.includes(anchor) ?? false);
}
