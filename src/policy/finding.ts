import { FINDINGS, type FindingCode, type Severity } from "../core/findings.ts";

export { FINDINGS, type FindingCode, type Severity } from "../core/findings.ts";

/** Something a reviewer must see before promoting. */
export interface Finding {
  readonly severity: Severity;
  /** Stable name, for `--accept CODE` and scripts; the table is in docs/findings.md. */
  readonly code: FindingCode;
  /** Paths in the imported tree; untrusted text. Capped, see `morePaths`. */
  readonly paths: readonly string[];
  readonly morePaths: number;
  /** Why it matters, one sentence. */
  readonly why: string;
  /** Whether policy gave it another severity than its code has by default. */
  readonly policy: "raised" | "lowered" | null;
}

const SHOWN_PATHS = 20;

export function finding(code: FindingCode, why: string, paths: readonly string[] = []): Finding {
  return {
    severity: FINDINGS[code],
    code,
    paths: paths.slice(0, SHOWN_PATHS),
    morePaths: Math.max(0, paths.length - SHOWN_PATHS),
    why,
    policy: null,
  };
}

export function blocks(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter((one) => one.severity === "block");
}
