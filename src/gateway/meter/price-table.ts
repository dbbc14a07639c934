import type { TokenUse } from "../../core/egress.ts";
import type { ModelPrice, PriceTable } from "../../core/prices.ts";

const MILLION = 1_000_000;

/** The table with a user's own prices: a row for the same name replaces the one that was there. */
export function withOwnPrices(standard: PriceTable, own: PriceTable): PriceTable {
  const replaced = new Set(own.map(({ model }) => model));
  return [...standard.filter(({ model }) => !replaced.has(model)), ...own];
}

/** `-20250929` or `-2025-08-07`: a snapshot of a model has the model's price. */
const DATE = /-20\d{2}(?:\d{4}|-\d{2}-\d{2})$/;

/** The row of the model's very name, or of its name without a date, else the longest beginning that fits. */
export function priceOf(table: PriceTable, model: string): ModelPrice | undefined {
  const named = (name: string): ModelPrice | undefined => table.find((row) => row.model === name);
  const exact = named(model) ?? named(model.replace(DATE, ""));
  if (exact !== undefined) return exact;
  const fitting = table.filter(
    (row) => row.model.endsWith("*") && model.startsWith(row.model.slice(0, -1)),
  );
  return fitting.toSorted((a, b) => b.model.length - a.model.length)[0];
}

/** US dollars; where the answer does not say what was written to a cache, the higher price counts. */
export function costOf({ rates: usual, long }: ModelPrice, tokens: TokenUse): number {
  const rates = long !== undefined && tokens.input > long.aboveInputTokens ? long.rates : usual;
  const fresh = Math.max(tokens.input - tokens.cachedInput, 0);
  const written = Math.min(
    tokens.cacheWrite ?? (rates.cacheWrite > rates.input ? fresh : 0),
    fresh,
  );
  const cost =
    (fresh - written) * rates.input +
    written * rates.cacheWrite +
    Math.min(tokens.cachedInput, tokens.input) * rates.cachedInput +
    tokens.output * rates.output;
  return cost / MILLION;
}
