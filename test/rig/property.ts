import type { Parameters } from "fast-check";
import type { TestOptions } from "vitest";

/** The usual inputs are the same everywhere: a change is judged by the change, not by luck. More of them are new ones. */
const USUAL_SEED = 20_261_129;

/**
 * How many inputs a property test tries, and which. A failure prints its seed and path; the same inputs come again
 * with `FC_SEED=… FC_PATH=…`. `FC_RUNS` tries more, and others each time.
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
    ...(seed === undefined && asked !== undefined ? {} : { seed: Number(seed ?? USUAL_SEED) }),
    ...(path === undefined ? {} : { path }),
  };
}

/**
 * For tests whose inputs are made up: a second try could try other inputs, and hide what the first one found. The timeout only guards against hanging, also in long runs by hand.
 */
export const NO_SECOND_TRY: TestOptions = { retry: 0, timeout: 24 * 60 * 60_000 };
