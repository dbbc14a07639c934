import type { ModelPrice, PriceTable, Rates } from "../../core/prices.ts";

/** When the prices were looked up; ISO 8601. */
export const PRICES_AS_OF = "2026-11-30";

/**
 * List prices of well-known models for usual requests: no batches, no priority, no surcharge for a region. What could
 * not be verified is not here. A user's own prices.toml comes before it.
 */
export const STANDARD_PRICES: PriceTable = [...anthropic(), ...openai(), ...gemini()];

/** https://platform.claude.com/docs/en/about-claude/pricing; cache writes are those kept for five minutes. */
function anthropic(): PriceTable {
  const opus = { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25 };
  const sonnet = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 };
  return [
    claude("fable-5-1", { input: 10, cachedInput: 0.25, cacheWrite: 12.5, output: 50 }),
    claude("fable-5", { input: 10, cachedInput: 1, cacheWrite: 12.5, output: 50 }),
    claude("opus-5-5", { input: 4, cachedInput: 0.2, cacheWrite: 5, output: 20 }),
    ...["opus-5", "opus-4-8", "opus-4-7", "opus-4-6", "opus-4-5"].map((name) => claude(name, opus)),
    claude("sonnet-5-5", { input: 2, cachedInput: 0.1, cacheWrite: 2.5, output: 10 }),
    claude("sonnet-5", { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 }),
    claude("sonnet-4-6", sonnet),
    long(claude("sonnet-4-5", sonnet), 200_000, {
      input: 6,
      cachedInput: 0.6,
      cacheWrite: 7.5,
      output: 22.5,
    }),
    long(
      claude("haiku-5-5", { input: 0.1, cachedInput: 0.01, cacheWrite: 0.125, output: 0.5 }),
      100_000,
      { input: 0.5, cachedInput: 0.05, cacheWrite: 0.625, output: 2.5 },
    ),
    claude("haiku-4-5", { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 }),
  ];
}

function claude(model: string, rates: Rates): ModelPrice {
  return { model: `claude-${model}`, rates };
}

/** https://developers.openai.com/api/docs/pricing and the pages of the models. */
function openai(): PriceTable {
  const sol = { input: 2, cachedInput: 0.1, cacheWrite: 2.5, output: 10 };
  const longSol = { input: 4, cachedInput: 0.2, cacheWrite: 5, output: 15 };
  return [
    long({ model: "gpt-6.2-sol", rates: sol }, 272_000, longSol),
    long({ model: "gpt-6.1-sol", rates: sol }, 272_000, longSol),
    long({ model: "gpt-6-sol", rates: { ...sol, cachedInput: 0.2 } }, 272_000, {
      ...longSol,
      cachedInput: 0.4,
    }),
    long(plain("gpt-5.5", [5, 0.5, 30]), 272_000, ratesOf([10, 1, 45])),
    long(plain("gpt-5.4", [2.5, 0.25, 15]), 272_000, ratesOf([5, 0.5, 22.5])),
    plain("gpt-5.4-mini", [0.75, 0.075, 4.5]),
    plain("gpt-5.4-nano", [0.2, 0.02, 1.25]),
    plain("gpt-5.3-codex", [1.75, 0.175, 14]),
    plain("gpt-5.2-codex", [1.75, 0.175, 14]),
    plain("gpt-5.2", [1.75, 0.175, 14]),
    plain("gpt-5.1-codex-max", [1.25, 0.125, 10]),
    plain("gpt-5.1-codex-mini", [0.25, 0.025, 2]),
    plain("gpt-5.1-codex", [1.25, 0.125, 10]),
    plain("gpt-5.1", [1.25, 0.125, 10]),
    plain("gpt-5-codex", [1.25, 0.125, 10]),
    plain("gpt-5-mini", [0.25, 0.025, 2]),
    plain("gpt-5-nano", [0.05, 0.005, 0.4]),
    plain("gpt-5", [1.25, 0.125, 10]),
    plain("gpt-4.1-mini", [0.4, 0.1, 1.6]),
    plain("gpt-4.1", [2, 0.5, 8]),
  ];
}

/** https://ai.google.dev/gemini-api/docs/pricing, paid tier; what a cache is kept for by the hour is not in it. */
function gemini(): PriceTable {
  return [
    plain("gemini-3.5-flash", [1.5, 0.15, 9]),
    plain("gemini-3.5-flash-lite", [0.3, 0.03, 2.5]),
    long(plain("gemini-3.1-pro-preview", [2, 0.2, 12]), 200_000, ratesOf([4, 0.4, 18])),
    long(plain("gemini-2.5-pro", [1.25, 0.125, 10]), 200_000, ratesOf([2.5, 0.25, 15])),
    plain("gemini-2.5-flash", [0.3, 0.03, 2.5]),
    plain("gemini-2.5-flash-lite", [0.1, 0.01, 0.4]),
  ];
}

type Plain = readonly [input: number, cachedInput: number, output: number];

function plain(model: string, rates: Plain): ModelPrice {
  return { model, rates: ratesOf(rates) };
}

/** Where writing to a cache costs what any input costs. */
function ratesOf([input, cachedInput, output]: Plain): Rates {
  return { input, cachedInput, cacheWrite: input, output };
}

function long(price: ModelPrice, aboveInputTokens: number, rates: Rates): ModelPrice {
  return { ...price, long: { aboveInputTokens, rates } };
}
