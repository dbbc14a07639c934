import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Finding, FindingCode } from "../../policy/finding.ts";

/** Findings that have a flag of their own, and a check of their own in a promotion. */
const OF_VALIDATION: ReadonlySet<string> = new Set<FindingCode>([
  "validation-failed",
  "validation-missing",
]);

export function isOfValidation(code: string): boolean {
  return OF_VALIDATION.has(code);
}

interface Accepting {
  readonly run: { readonly id: string };
  /** As `code` or `code:path`. */
  readonly accepted: readonly string[];
}

/**
 * Refuses to accept what is not there: a misspelt code or path must not be recorded as a decision. What a finding no
 * longer shows of its paths cannot be checked, so any path of such a finding counts as its own.
 */
export function refuseUnknownAccepts(
  { run, accepted }: Accepting,
  findings: readonly Finding[],
): Result<void, Failure> {
  const byFlag = accepted.find((one) => isOfValidation(one.split(":")[0] ?? ""));
  if (byFlag !== undefined)
    return fail(
      "promote-refused",
      `${byFlag} cannot be accepted: a validation that failed or is missing is passed over by its own flag.`,
      { cure: `Run \`guardloop validate ${run.id}\` again, or pass --without-validation REASON.` },
    );
  const unknown = accepted.find((one) => !findings.some((found) => names(one, found)));
  if (unknown === undefined) return ok(undefined);
  const there = findings.flatMap((one) =>
    isOfValidation(one.code) ? [] : [one.code, ...one.paths.map((path) => `${one.code}:${path}`)],
  );
  return fail(
    "promote-refused",
    `Run ${run.id} has no finding ${unknown} that could be accepted.`,
    {
      details: there.length === 0 ? ["It has no findings."] : there,
      cure:
        there.length === 0
          ? "Leave --accept out."
          : "Pass one of those above, exactly as it is written there; quote it where it has spaces.",
    },
  );
}

/** Whether a text of `--accept` means this finding, or a path of it. */
export function names(accept: string, found: Finding): boolean {
  if (accept === found.code) return true;
  if (!accept.startsWith(`${found.code}:`)) return false;
  return found.morePaths > 0 || found.paths.includes(accept.slice(found.code.length + 1));
}
