import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parsePrices, readOwnPrices } from "../../src/config/prices.ts";
import type { TokenUse } from "../../src/core/egress.ts";
import type { PriceTable } from "../../src/core/prices.ts";
import { costOf, priceOf, withOwnPrices } from "../../src/gateway/meter/price-table.ts";
import { PRICES_AS_OF, STANDARD_PRICES } from "../../src/gateway/meter/standard-prices.ts";

function own(text: string): PriceTable {
  const parsed = parsePrices({ path: "prices.toml", text });
  if (!parsed.ok) throw new Error([parsed.error.message, ...parsed.error.details].join("\n"));
  return parsed.value;
}

function problems(text: string): readonly string[] {
  const parsed = parsePrices({ path: "prices.toml", text });
  if (parsed.ok) throw new Error("this table should have been refused");
  expect(parsed.error.code).toBe("config-invalid");
  expect(parsed.error.cure).toContain("docs/budgets.md");
  return parsed.error.details.length > 0 ? parsed.error.details : [parsed.error.message];
}

const TOKENS: TokenUse = { input: 1_000_000, cachedInput: 0, output: 0, counted: "reported" };

test("the exact name comes first, then the longest beginning", () => {
  const table = own(`
["*"]
input = 1
output = 1
["gpt-*"]
input = 2
output = 2
["gpt-5-*"]
input = 3
output = 3
["gpt-5-mini"]
input = 4
output = 4
`);
  const found = (model: string) => priceOf(table, model)?.model;
  expect(found("gpt-5-mini")).toBe("gpt-5-mini");
  expect(found("gpt-5-mini-2026-01-31")).toBe("gpt-5-mini");
  expect(found("gpt-5-minimal")).toBe("gpt-5-*");
  expect(found("gpt-4")).toBe("gpt-*");
  expect(found("llama")).toBe("*");
  expect(priceOf(own(""), "llama")).toBeUndefined();
});

test("a user's own price replaces the one of the same name, also for its dated snapshots", () => {
  const table = withOwnPrices(
    STANDARD_PRICES,
    own('["claude-sonnet-4-5"]\ninput = 1\ncached_input = 0.5\ncache_write = 2\noutput = 3\n'),
  );
  expect(priceOf(table, "claude-sonnet-4-5-20250929")).toEqual({
    model: "claude-sonnet-4-5",
    rates: { input: 1, cachedInput: 0.5, cacheWrite: 2, output: 3 },
  });
  expect(priceOf(table, "claude-haiku-4-5")).toBeDefined();
});

test("cached input, cache writes and output have prices of their own", () => {
  const price = { model: "m", rates: { input: 10, cachedInput: 1, cacheWrite: 12, output: 100 } };
  const cost = (tokens: Partial<TokenUse>) => costOf(price, { ...TOKENS, ...tokens });
  expect(cost({ cacheWrite: 0 })).toBeCloseTo(10);
  expect(cost({ cachedInput: 400_000, cacheWrite: 100_000 })).toBeCloseTo(5 + 0.4 + 1.2);
  expect(cost({ input: 0, output: 10_000 })).toBeCloseTo(1);
  // Where the answer does not say what was written, the higher price counts.
  expect(cost({})).toBeCloseTo(12);
  // More cached than there was input cannot make it cheaper than nothing.
  expect(cost({ cachedInput: 5_000_000, cacheWrite: 9_000_000 })).toBeCloseTo(1);
});

test("a long request costs what long requests cost, as a whole", () => {
  const price = priceOf(STANDARD_PRICES, "gemini-2.5-pro")!;
  expect(costOf(price, { ...TOKENS, input: 200_000 })).toBeCloseTo(0.25);
  expect(costOf(price, { ...TOKENS, input: 200_001, output: 1_000_000 })).toBeCloseTo(15.5, 3);
});

test("the standard prices make sense: one row a model, and no price below nothing or above its like", () => {
  const names = STANDARD_PRICES.map(({ model }) => model);
  expect(new Set(names).size).toBe(names.length);
  for (const { rates, long } of STANDARD_PRICES)
    for (const { input, cachedInput, cacheWrite, output } of [rates, long?.rates ?? rates]) {
      expect(cachedInput).toBeGreaterThan(0);
      expect(cachedInput).toBeLessThan(input);
      expect(cacheWrite).toBeGreaterThanOrEqual(input);
      expect(output).toBeGreaterThan(input);
    }
});

test("every mistake in the table is named with its place", () => {
  expect(
    problems(`["gpt-5"]
input = 1
outptu = 2
["a*b"]
input = 1
[gpt-5.1]
input = 1
output = 2
["free"]
input = -1
output = "0"
[["list"]]
input = nan
`),
  ).toEqual([
    "prices.toml:3:1 there is no price outptu; did you mean output?",
    "prices.toml:4:2 expected the name of a model, or the beginning of names and one * at its end.",
    'prices.toml:6:2 the name of a model stands in quotes: ["gpt-5.1"].',
    "prices.toml:10:1 input = -1: expected US dollars for a million tokens, 0 or more.",
    'prices.toml:11:1 output = "0": expected US dollars for a million tokens, 0 or more.',
    'prices.toml:12:3 expected a table for each model, such as ["list"].',
    'prices.toml:1:2 ["gpt-5"] needs input and output.',
    'prices.toml:9:2 ["free"] needs input and output.',
  ]);
  expect(problems("input = 1")).toEqual([
    'prices.toml:1:1 expected a table for each model, such as ["input"].',
  ]);
  expect(problems('["a"\n')[0]).toMatch(/^prices\.toml:1:\d+ this is not TOML/);
  expect(problems('["a"]\ninput = nan\noutput = 1\n')[0]).toContain("prices.toml:2:1 input = ");
});

test("no file is an empty table, and one that cannot be read is said", async () => {
  const directory = await mkdtemp(join(tmpdir(), "guardloop-prices-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  expect(await readOwnPrices(directory)).toEqual({ ok: true, value: [] });
  await writeFile(join(directory, "prices.toml"), '["m"]\ninput = 1\noutput = 2\n');
  const read = await readOwnPrices(directory);
  expect(read.ok && read.value).toEqual([
    { model: "m", rates: { input: 1, cachedInput: 1, cacheWrite: 1, output: 2 } },
  ]);
  await mkdir(join(directory, "other", "prices.toml"), { recursive: true });
  const blocked = await readOwnPrices(join(directory, "other"));
  expect(blocked.ok ? "" : blocked.error.message).toMatch(
    /prices\.toml cannot be read \(EISDIR\)\.$/,
  );
});

test("the document says when the prices were looked up", async () => {
  expect(await readFile("docs/budgets.md", "utf8")).toContain(`as of ${PRICES_AS_OF}`);
});
