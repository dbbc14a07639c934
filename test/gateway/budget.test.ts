import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Budget, TokenUse } from "../../src/core/egress.ts";
import type { PriceTable } from "../../src/core/prices.ts";
import { createInvocationMeter, createMeter } from "../../src/gateway/meter/meter.ts";
import type { AdmittedRequest } from "../../src/gateway/port.ts";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";

const NONE: Budget = { requests: null, inputTokens: null, outputTokens: null, usd: null };
const PRICES: PriceTable = [
  { model: "gpt-9", rates: { input: 10, cachedInput: 1, cacheWrite: 10, output: 100 } },
];
const ASKED = { model: "gpt-9", requestBytes: 400 };

function meterOf(budgets: { readonly run?: Partial<Budget>; readonly all?: Partial<Budget> }) {
  const said: string[] = [];
  const invocation = createInvocationMeter({ ...NONE, ...budgets.all });
  const meter = createMeter({
    run: { ...NONE, ...budgets.run },
    invocation,
    prices: PRICES,
    pricesFile: "/home/ada/.config/guardloop/prices.toml",
    now: () => new Date("2026-11-29T10:00:00Z"),
    onExhausted: (sentence) => said.push(sentence),
  });
  return { meter, invocation, said };
}

type Meter = ReturnType<typeof meterOf>["meter"];

function admitted(meter: Meter, asked: Parameters<Meter["admit"]>[0] = ASKED): AdmittedRequest {
  const result = meter.admit(asked);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

function refusal(meter: Meter, asked: Parameters<Meter["admit"]>[0] = ASKED): string {
  const result = meter.admit(asked);
  if (result.ok) throw new Error("this request should have been refused");
  return result.error;
}

function tokens(input: number, output: number): TokenUse {
  return { input, cachedInput: 0, output, counted: "reported" };
}

test("a budget of two requests lets two through and refuses the third with its name, once aloud", () => {
  const { meter, said } = meterOf({ run: { requests: 2 } });
  admitted(meter);
  const second = admitted(meter);
  expect(meter.exhausted()).toBeUndefined();
  const sentence = "The budget of 2 requests for this run is used up (budget.requests).";
  expect(refusal(meter)).toBe(sentence);
  expect(refusal(meter)).toBe(sentence);
  expect(meter.exhausted()).toBe(sentence);
  expect(said).toEqual([sentence]);
  // What was let through before is answered and counted all the same.
  second.used({ model: "gpt-9", tokens: tokens(1000, 10) });
  expect(meter.used()).toMatchObject({ requests: 2, inputTokens: 1000, outputTokens: 10 });
});

test("a request that never reached the upstream does not count", () => {
  const { meter } = meterOf({ run: { requests: 1 } });
  admitted(meter).withdrawn();
  const again = admitted(meter);
  // It ends once; what comes later changes nothing.
  again.used({ model: null, tokens: null });
  again.withdrawn();
  again.used({ model: null, tokens: tokens(5, 5) });
  expect(meter.used()).toEqual({ requests: 1, inputTokens: 0, outputTokens: 0, usd: 0 });
  expect(refusal(meter)).toContain("budget.requests");
});

test("output tokens end a run with the next request, not with the answer that used them up", () => {
  const { meter, said } = meterOf({ run: { outputTokens: 200_000 } });
  admitted(meter).used({ model: "gpt-9", tokens: tokens(10, 200_000) });
  expect(meter.exhausted()).toBeUndefined();
  const sentence =
    "The budget of 200000 output tokens for this run is used up (budget.output_tokens).";
  expect(refusal(meter)).toBe(sentence);
  expect(said).toEqual([sentence]);
});

test("input tokens and money are counted too", () => {
  const input = meterOf({ run: { inputTokens: 100 } }).meter;
  admitted(input).used({ model: "gpt-9", tokens: tokens(100, 0) });
  expect(refusal(input)).toContain("budget.input_tokens");

  const money = meterOf({ run: { usd: 0.5 } }).meter;
  expect(admitted(money).used({ model: "gpt-9", tokens: tokens(0, 5000) })).toBeCloseTo(0.5);
  expect(refusal(money)).toBe("The budget of 0.5 US dollars for this run is used up (budget.usd).");
});

test("all runs of an invocation draw on one budget", () => {
  const { meter, invocation } = meterOf({ all: { outputTokens: 100 } });
  const other = createMeter({ run: NONE, invocation, prices: PRICES, pricesFile: "" });
  admitted(other).used({ model: "gpt-9", tokens: tokens(0, 60) });
  expect(invocation.exhausted()).toBeUndefined();
  admitted(meter).used({ model: "gpt-9", tokens: tokens(0, 60) });
  const sentence =
    "The budget of 100 output tokens for all runs together is used up (budget.all_output_tokens).";
  expect(invocation.exhausted()).toBe(sentence);
  expect(refusal(meter)).toBe(sentence);
  expect(refusal(other)).toBe(sentence);
  expect(other.used().outputTokens).toBe(60);
});

test("with a budget of money, a model without a price is refused, and the price table is named", () => {
  const { meter, said } = meterOf({ run: { usd: 5 } });
  expect(refusal(meter, { model: "new\u001b[31m-model", requestBytes: 10 })).toBe(
    "The model new<U+001B>[31m-model has no price and is not used. The budget of 5 US dollars for this run could not be kept (budget.usd). Add its price to /home/ada/.config/guardloop/prices.toml.",
  );
  expect(refusal(meter, { model: null, requestBytes: 10 })).toContain("names no model");
  // Nobody has used anything up: the agent may go on with another model.
  expect(meter.exhausted()).toBeUndefined();
  expect(said).toEqual([]);
  admitted(meter, { model: null, requestBytes: 0 });
  admitted(meter);
  const all = meterOf({ all: { usd: 5 } }).meter;
  expect(refusal(all, { model: "other", requestBytes: 1 })).toContain("budget.all_usd");
});

test("without a budget of money, a model without a price is used and costs nobody knows what", () => {
  const { meter } = meterOf({ run: { outputTokens: 10 } });
  const request = admitted(meter, { model: "local", requestBytes: 10 });
  expect(request.used({ model: "local", tokens: tokens(10, 10) })).toBeNull();
});

test("the price is that of the answer's model, and else of the one that was asked for", () => {
  const { meter } = meterOf({ run: { usd: 5 } });
  expect(
    admitted(meter).used({ model: "gpt-9-2026-01-01", tokens: tokens(200_000, 0) }),
  ).toBeCloseTo(2);
  expect(admitted(meter).used({ model: "alias", tokens: tokens(100_000, 0) })).toBeCloseTo(1);
});

test("a number that is none counts as without end", () => {
  for (const wrong of [Number.NaN, -1]) {
    const { meter } = meterOf({ run: { outputTokens: 1_000_000 } });
    admitted(meter).used({ model: "gpt-9", tokens: tokens(0, wrong) });
    expect(refusal(meter)).toContain("budget.output_tokens");
  }
});

test("many requests at once do not all pass the last tokens of a budget", () => {
  const { meter, said } = meterOf({ run: { outputTokens: 2500 } });
  const first = [admitted(meter), admitted(meter), admitted(meter)];
  expect(refusal(meter)).toBe(
    "The budget of 2500 output tokens for this run may be used up by the requests under way; ask again when they are answered (budget.output_tokens).",
  );
  expect(meter.exhausted()).toBeUndefined();
  for (const request of first) request.used({ model: "gpt-9", tokens: tokens(0, 10) });
  admitted(meter);
  expect(said).toEqual([]);
});

test("a single request is never held back by what it sets aside itself", () => {
  const { meter } = meterOf({ run: { inputTokens: 1, outputTokens: 1, usd: 0.000001 } });
  expect(meter.admit({ model: "gpt-9", requestBytes: 10_000_000 }).ok).toBe(true);
});

test("the newest limit is kept, with how long it lasts; one that is over is not waited for", () => {
  const { meter } = meterOf({});
  expect(meter.limitState()).toEqual({ seen: 0, status: null, until: null, waitMs: null });
  meter.sawLimit({ status: 429, until: new Date("2026-11-29T11:00:00Z") });
  expect(meter.limitState()).toMatchObject({ seen: 1, status: 429, waitMs: 3_600_000 });
  meter.sawLimit({ status: 529, until: null });
  expect(meter.limitState()).toEqual({ seen: 2, status: 529, until: null, waitMs: null });
  meter.sawLimit({ status: 429, until: new Date("2026-11-29T09:59:59Z") });
  expect(meter.limitState()).toMatchObject({ seen: 3, waitMs: null });
});

interface Step {
  readonly act: "ask" | "answer" | "withdraw";
  readonly meter: 0 | 1;
  readonly which: number;
  readonly input: number;
  readonly output: number;
}

/** What was let through and used, counted in the simplest way there is. */
interface Sums {
  requests: number;
  input: number;
  output: number;
}

function isSpent(budget: Budget, { requests, input, output }: Sums): boolean {
  return (
    requests >= (budget.requests ?? Infinity) ||
    input >= (budget.inputTokens ?? Infinity) ||
    output >= (budget.outputTokens ?? Infinity)
  );
}

/** Two runs of one invocation, whose requests come and end in any order. */
function twoRuns(run: Budget, all: Budget) {
  const invocation = createInvocationMeter(all);
  const meter = () => createMeter({ run, invocation, prices: PRICES, pricesFile: "" });
  const runs = [meter(), meter()].map((one) => ({
    meter: one,
    sums: { requests: 0, input: 0, output: 0 },
  }));
  const [a, b] = [runs[0]!.sums, runs[1]!.sums];
  const open: { readonly sums: Sums; readonly request: AdmittedRequest }[] = [];
  const ask = (which: 0 | 1): void => {
    const { meter: asked, sums } = runs[which]!;
    const together = {
      requests: a.requests + b.requests,
      input: a.input + b.input,
      output: a.output + b.output,
    };
    const request = asked.admit(ASKED);
    if (!request.ok) return;
    if (isSpent(run, sums) || isSpent(all, together)) throw new Error("one too many");
    sums.requests += 1;
    open.push({ sums, request: request.value });
  };
  const end = ({ act, which, input, output }: Step): void => {
    const [over] = open.splice(which % Math.max(open.length, 1), 1);
    if (over === undefined) return;
    if (act === "withdraw") {
      over.request.withdrawn();
      over.sums.requests -= 1;
      return;
    }
    over.request.used({ model: "gpt-9", tokens: tokens(input, output) });
    over.sums.input += input;
    over.sums.output += output;
  };
  return { runs, ask, end };
}

test(
  "whatever comes at once, no more is let through than the budgets of requests and tokens allow",
  NO_SECOND_TRY,
  () => {
    const limit = fc.option(fc.integer({ min: 1, max: 30 }), { nil: null });
    const budget = fc.record({
      requests: limit,
      inputTokens: limit,
      outputTokens: limit,
      usd: fc.constant(null),
    });
    const step: fc.Arbitrary<Step> = fc.record({
      act: fc.constantFrom("ask", "ask", "answer", "withdraw"),
      meter: fc.constantFrom(0, 1),
      which: fc.nat(),
      input: fc.integer({ min: 0, max: 10 }),
      output: fc.integer({ min: 0, max: 10 }),
    });
    fc.assert(
      fc.property(budget, budget, fc.array(step, { maxLength: 120 }), (run, all, steps) => {
        const { runs, ask, end } = twoRuns(run, all);
        for (const one of steps) {
          if (one.act === "ask") ask(one.meter);
          else end(one);
        }
        for (const { meter, sums } of runs)
          expect(meter.used()).toMatchObject({
            requests: sums.requests,
            inputTokens: sums.input,
            outputTokens: sums.output,
          });
      }),
      propertyRuns(500),
    );
  },
);
