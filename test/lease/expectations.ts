import { expect } from "vitest";
import type { Failure } from "../../src/core/failures.ts";
import type { Result } from "../../src/core/result.ts";

/** The value of a Result that must be a good one. */
export function good<T>(result: Result<T, Failure>): T {
  if (!result.ok) expect.fail(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

/** The failure of a Result that must be a bad one. */
export function bad(result: Result<unknown, Failure>): Failure {
  if (result.ok) expect.fail(`expected a failure, got ${JSON.stringify(result.value)}`);
  return result.error;
}
