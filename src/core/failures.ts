import { EXIT, type ExitStatus, FAILURES, type FailureKind } from "./failure-table.ts";
import { type Result, err } from "./result.ts";

export { EXIT, FAILURES, type ExitStatus } from "./failure-table.ts";

export type FailureCode = keyof typeof FAILURES;

export interface Failure {
  readonly code: FailureCode;
  /** One sentence for a person: what is wrong and where. May hold text from outside; escape it when printing. */
  readonly message: string;
  readonly cure: string;
  /** Lines shown below the message, for example the files of a dirty checkout. */
  readonly details: readonly string[];
}

/** Builds a failure; the cure comes from the table unless the caller knows a better one. */
export function failure(
  code: FailureCode,
  message: string,
  extra: { readonly cure?: string; readonly details?: readonly string[] } = {},
): Failure {
  return { code, message, cure: extra.cure ?? FAILURES[code].cure, details: extra.details ?? [] };
}

/** Shorthand for a Result that failed. */
export function fail(
  code: FailureCode,
  message: string,
  extra: { readonly cure?: string; readonly details?: readonly string[] } = {},
): Result<never, Failure> {
  return err(failure(code, message, extra));
}

/** Whether a failure with this code may be the task's own doing; a code that is not known, of another version, counts. */
export function isTasksFault(code: string): boolean {
  const kinds: Readonly<Record<string, FailureKind>> = FAILURES;
  const kind = Object.hasOwn(kinds, code) ? kinds[code] : undefined;
  if (kind === undefined) return true;
  const wasJudged = kind.exit === EXIT.failed || kind.exit === EXIT.resultRefused;
  return wasJudged && kind.blame !== "surroundings";
}

export function exitStatusOf(code: FailureCode): ExitStatus {
  return FAILURES[code].exit;
}
