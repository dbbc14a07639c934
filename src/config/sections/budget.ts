import { z } from "zod";
import { setting } from "../setting.ts";

const MOST = 1e12;

/** 0 becomes null: no limit. */
const whole = z
  .int()
  .min(0)
  .max(MOST)
  .transform((count) => (count === 0 ? null : count));

const dollars = z
  .number()
  .min(0)
  .max(MOST)
  .transform((amount) => (amount === 0 ? null : amount));

function budget<const Name extends string>(
  name: Name,
  of: {
    readonly guard: `GUARD_${string}`;
    readonly flag: `--${string}`;
    readonly description: string;
  },
) {
  const isMoney = name.endsWith("usd");
  return setting({
    key: `budget.${name}`,
    guard: of.guard,
    flag: { name: of.flag, takes: isMoney ? "AMOUNT" : "N" },
    kind: "number",
    schema: isMoney ? dollars : whole,
    expects: isMoney ? "an amount in US dollars, 0 for no limit" : "a whole number, 0 for no limit",
    standard: 0,
    description: of.description,
    loosening: "never",
  });
}

export const requests = budget("requests", {
  guard: "GUARD_BUDGET_REQUESTS",
  flag: "--budget-requests",
  description: "Requests to the model API that a run may make; 0 for no limit.",
});
export const inputTokens = budget("input_tokens", {
  guard: "GUARD_BUDGET_INPUT_TOKENS",
  flag: "--budget-input-tokens",
  description: "Tokens that a run may send; 0 for no limit.",
});
export const outputTokens = budget("output_tokens", {
  guard: "GUARD_BUDGET_OUTPUT_TOKENS",
  flag: "--budget-output-tokens",
  description: "Tokens that a run may receive; 0 for no limit.",
});
export const usd = budget("usd", {
  guard: "GUARD_BUDGET_USD",
  flag: "--budget-usd",
  description: "US dollars that a run may cost, by your price table; 0 for no limit.",
});
export const allRequests = budget("all_requests", {
  guard: "GUARD_BUDGET_ALL_REQUESTS",
  flag: "--budget-all-requests",
  description: "Requests that all runs of one `guardloop run` may make together; 0 for no limit.",
});
export const allInputTokens = budget("all_input_tokens", {
  guard: "GUARD_BUDGET_ALL_INPUT_TOKENS",
  flag: "--budget-all-input-tokens",
  description: "For all runs together: tokens sent.",
});
export const allOutputTokens = budget("all_output_tokens", {
  guard: "GUARD_BUDGET_ALL_OUTPUT_TOKENS",
  flag: "--budget-all-output-tokens",
  description: "For all runs together: tokens received.",
});
export const allUsd = budget("all_usd", {
  guard: "GUARD_BUDGET_ALL_USD",
  flag: "--budget-all-usd",
  description: "For all runs together: US dollars.",
});
