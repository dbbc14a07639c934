import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";
import { type Failure, fail } from "../core/failures.ts";
import type { ModelPrice, PriceTable } from "../core/prices.ts";
import { type Result, ok } from "../core/result.ts";
import type { ConfigFile } from "./file-layer.ts";
import { nearMiss } from "./near-miss.ts";
import { type TextPosition, type TomlItem, readToml } from "./toml.ts";
import { shorten, showToml } from "./written.ts";

const LIMIT_CHARS = 256 * 1024;
const KEYS = ["input", "cached_input", "cache_write", "output"] as const;
type Key = (typeof KEYS)[number];
const MOST_DOLLARS = 1e6;

/** The user's own price table. No repository has one: it would set how far a budget of money reaches. */
export function pricesPath(configDir: string): string {
  return join(configDir, "prices.toml");
}

/**
 * Reads the user's own prices.
 *
 * @returns an empty table when there is no file; `config-invalid` with every problem and its place.
 */
export async function readOwnPrices(configDir: string): Promise<Result<PriceTable, Failure>> {
  const path = pricesPath(configDir);
  try {
    return parsePrices({ path, text: await readFile(path, "utf8") });
  } catch (error) {
    const reason = errnoOf(error);
    if (reason === "ENOENT" || reason === "ENOTDIR") return ok([]);
    return fail("config-invalid", `${path} cannot be read (${reason}).`);
  }
}

interface Row {
  readonly at: TextPosition;
  readonly values: Map<Key, number>;
}

/** Reads a table for each model, with dollars for a million tokens. */
export function parsePrices(file: ConfigFile): Result<PriceTable, Failure> {
  const place = (at: TextPosition): string => `${file.path}:${at.line}:${at.column}`;
  if (file.text.length > LIMIT_CHARS) return invalid([`${file.path} is longer than 256 KiB.`]);
  const items = readToml(file.text);
  if (!items.ok) return invalid([`${place(items.error.at)} ${items.error.message}.`]);
  const rows = new Map<string, Row>();
  const problems: string[] = [];
  const refused = new Set<string>();
  for (const item of items.value) {
    // One sentence for a table that should not be there is enough.
    if (item.kind === "value" && refused.has(tableOf(item))) continue;
    const problem =
      item.path.length === 2 && item.kind === "value"
        ? takeValue(item, rows)
        : takeTable(item, rows);
    if (problem === undefined) continue;
    problems.push(`${place(item.at)} ${problem}`);
    refused.add(JSON.stringify(item.path));
  }
  const prices: ModelPrice[] = [];
  for (const [model, row] of rows) {
    const price = priceFrom(model, row);
    if (typeof price === "string") problems.push(`${place(row.at)} ${price}`);
    else prices.push(price);
  }
  return problems.length === 0 ? ok(prices) : invalid(problems);
}

function tableOf({ path }: TomlItem): string {
  return JSON.stringify(path.slice(0, -1));
}

/** @returns what is wrong with the table, in a sentence. */
function takeTable({ kind, path, at }: TomlItem, rows: Map<string, Row>): string | undefined {
  const model = path.join(".");
  if (path.length > 1) return `the name of a model stands in quotes: ["${shorten(model)}"].`;
  if (kind !== "table") return `expected a table for each model, such as ["${shorten(model)}"].`;
  if (!/^(?:[^*\s\p{Cc}]+\*?|\*)$/u.test(model))
    return "expected the name of a model, or the beginning of names and one * at its end.";
  rows.set(model, { at, values: new Map() });
  return undefined;
}

/** @returns what is wrong with the value, in a sentence. */
function takeValue(
  item: TomlItem & { readonly kind: "value" },
  rows: Map<string, Row>,
): string | undefined {
  const [model = "", name = ""] = item.path;
  const key = KEYS.find((one) => one === name);
  if (key === undefined) {
    const near = nearMiss(name, KEYS);
    return `there is no price ${shorten(name)}${near === undefined ? "." : `; did you mean ${near}?`}`;
  }
  const { value } = item;
  if (typeof value !== "number" || !(value >= 0 && value <= MOST_DOLLARS))
    return `${key} = ${showToml(value)}: expected US dollars for a million tokens, 0 or more.`;
  const row = rows.get(model) ?? { at: item.at, values: new Map<Key, number>() };
  row.values.set(key, value);
  rows.set(model, row);
  return undefined;
}

function priceFrom(model: string, { values }: Row): ModelPrice | string {
  const input = values.get("input");
  const output = values.get("output");
  if (input === undefined || output === undefined)
    return `["${shorten(model)}"] needs input and output.`;
  const cachedInput = values.get("cached_input") ?? input;
  const cacheWrite = values.get("cache_write") ?? input;
  return { model, rates: { input, cachedInput, cacheWrite, output } };
}

function invalid(problems: readonly string[]): Result<never, Failure> {
  const [first = ""] = problems;
  const cure = "Correct each named line of the price table; see docs/budgets.md.";
  if (problems.length === 1) return fail("config-invalid", first, { cure });
  return fail("config-invalid", `The price table has ${problems.length} problems.`, {
    cure,
    details: problems,
  });
}
