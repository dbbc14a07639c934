import type { Table } from "./documents.ts";

/** What a document says of one key: the types it may have. */
export type Shape = ReadonlyMap<string, readonly string[]>;

/** Reads a table of `key | type | meaning`. */
export function shapeOf(table: Table): Shape {
  return new Map(
    table.rows.map(([key = "", type = ""]) => [key.replaceAll("`", ""), type.split(" or ")]),
  );
}

/** Every key and type that is in a JSON value, as the documents write them: `runs[].failure.code text`. */
export function pathsIn(value: unknown, shape: Shape, at = ""): readonly string[] {
  if (shape.get(at)?.includes("any") === true) return [`${at} any`];
  if (Array.isArray(value)) return listPaths(value, shape, at);
  if (typeof value !== "object" || value === null) return [`${at} ${typeOf(value)}`];
  const own = at === "" ? [] : [`${at} object`];
  const below = Object.entries(value).flatMap(([key, one]) =>
    pathsIn(one, shape, at === "" ? key : `${at}.${key}`),
  );
  return [...own, ...below];
}

/** An empty list may be of either kind. */
function listPaths(list: readonly unknown[], shape: Shape, at: string): readonly string[] {
  const kinds = shape.get(at) ?? [];
  if (list.length === 0) return [`${at} ${kinds.includes("texts") ? "texts" : "list"}`];
  if (list.every((one) => typeof one === "string")) return [`${at} texts`];
  return [`${at} list`, ...list.flatMap((one) => pathsIn(one, shape, `${at}[]`)).filter(isBelow)];
  function isBelow(path: string): boolean {
    return path !== `${at}[] object`;
  }
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "string" ? "text" : typeof value;
}

/** Everything a document promises, in the form of `pathsIn`. */
export function promisedBy(shape: Shape): readonly string[] {
  return [...shape].flatMap(([key, types]) => types.map((type) => `${key} ${type}`));
}
