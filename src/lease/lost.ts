import { type Failure, fail } from "../core/failures.ts";
import type { Result } from "../core/result.ts";

/** The worktree may be somebody else's by now, so whoever finds this does nothing more with it. */
export function leaseLost(path: string): Result<never, Failure> {
  return fail("lease-lost", `The lease of ${path} was taken back while the run had it.`);
}
