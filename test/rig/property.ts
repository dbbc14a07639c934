import type { Parameters } from "fast-check";
import type { TestOptions } from "vitest";

/**
 * How many inputs a property test tries, and which. A failure prints its seed and path; the same inputs come again
 * with `FC_SEED=… FC_PATH=…`. `FC_RUNS` tries more.
 */
export function propertyRuns<T = unknown>(usual: number): Parameters<T> {
  return parameters(usual, process.env.FC_RUNS);
}

/** The same for the fuzz tests, which `FUZZ_RUNS` makes longer. */
export function fuzzRuns<T = unknown>(usual: number): Parameters<T> {
  return parameters(usual, process.env.FUZZ_RUNS ?? process.env.FC_RUNS);
}

function parameters<T>(usual: number, asked: string | undefined): Parameters<T> {
  const { FC_SEED: seed, FC_PATH: path } = process.env;
  return {
    numRuns: asked === undefined ? usual : Number(asked),
    endOnFailure: path !== undefined,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
  };
}

/**
 * For tests whose inputs are made up anew each time: a second try would try other inputs, and hide what the first
 * one found. The timeout only guards against hanging, also in long runs by hand.
 */
export const NO_SECOND_TRY: TestOptions = { retry: 0, timeout: 24 * 60 * 60_000 };
