/** US dollars per million tokens. */
export interface Rates {
  readonly input: number;
  /** What was read from the provider's cache. */
  readonly cachedInput: number;
  /** What was written to the provider's cache; like `input` where that costs nothing of its own. */
  readonly cacheWrite: number;
  readonly output: number;
}

export interface ModelPrice {
  /** The model's name without a date, or the beginning of names and a `*`. */
  readonly model: string;
  readonly rates: Rates;
  /** What a whole request costs whose input is longer than this. */
  readonly long?: { readonly aboveInputTokens: number; readonly rates: Rates };
}

export type PriceTable = readonly ModelPrice[];
