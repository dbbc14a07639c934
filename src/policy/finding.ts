/** How much a finding matters: `block` stops a promotion until it is accepted by name. */
export type Severity = "info" | "warn" | "block";

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
}

/** Every finding code with the severity it has by default. */
export const FINDINGS = {
  "control-file": "block",
  "protected-git": "block",
  "protected-ci": "block",
  "protected-editor": "block",
  "protected-agents": "block",
  "protected-secrets": "block",
  "install-scripts": "block",
  "package-keys": "info",
  "protected-install": "warn",
  "protected-build": "info",
  "symlink-escaping": "block",
  symlink: "warn",
  "mode-changed": "warn",
  binary: "warn",
  "large-file": "warn",
  "large-change": "warn",
  "odd-name": "warn",
  "case-collision": "block",
  "secret-added": "block",
  "bidi-characters": "block",
  "invisible-characters": "warn",
  "control-characters": "warn",
  junk: "block",
  "tests-deleted": "warn",
  "tests-shrunk": "info",
  "tests-skipped": "warn",
  "plan-not-updated": "warn",
  "plan-changed-elsewhere": "warn",
  "agent-failed": "warn",
  "memory-limit": "info",
  "declared-loss": "warn",
  "left-behind": "info",
  authorship: "warn",
  "metadata-changed": "info",
  "meaningful-message": "warn",
  "message-differs": "info",
  "lfs-pointer": "warn",
  "no-change": "warn",
} as const satisfies Record<string, Severity>;

export type FindingCode = keyof typeof FINDINGS;

const SHOWN_PATHS = 20;

export function finding(code: FindingCode, why: string, paths: readonly string[] = []): Finding {
  return {
    severity: FINDINGS[code],
    code,
    paths: paths.slice(0, SHOWN_PATHS),
    morePaths: Math.max(0, paths.length - SHOWN_PATHS),
    why,
  };
}

export function blocks(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter((one) => one.severity === "block");
}
