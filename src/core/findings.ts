/** How much a finding matters: `block` stops a promotion until it is accepted by name. */
export type Severity = "info" | "warn" | "block";

/** From the lightest to the weightiest. */
export const SEVERITIES = ["info", "warn", "block"] as const satisfies readonly Severity[];

/** Every finding code with the severity it has by default; docs/findings.md is tested against it. */
export const FINDINGS = {
  "control-file": "block",
  "protected-git": "block",
  "protected-ci": "block",
  "protected-editor": "block",
  "protected-agents": "block",
  "protected-secrets": "block",
  "protected-policy": "block",
  "install-scripts": "block",
  "package-keys": "info",
  "protected-install": "warn",
  "protected-build": "info",
  "symlink-escaping": "block",
  symlink: "warn",
  "mode-changed": "warn",
  binary: "warn",
  generated: "warn",
  "large-file": "warn",
  "large-change": "warn",
  "odd-name": "warn",
  "case-collision": "block",
  "secret-in-use": "block",
  "secret-added": "block",
  "secret-suspected": "warn",
  "secret-scan-incomplete": "warn",
  "bidi-characters": "block",
  "invisible-characters": "warn",
  "control-characters": "warn",
  "mixed-scripts": "warn",
  "checks-disabled": "warn",
  junk: "block",
  "tests-deleted": "warn",
  "tests-shrunk": "info",
  "tests-skipped": "warn",
  "plan-not-updated": "warn",
  "plan-changed-elsewhere": "warn",
  "agent-failed": "warn",
  "memory-limit": "info",
  "process-limit": "info",
  "did-not-end": "warn",
  "declared-loss": "warn",
  "left-behind": "info",
  authorship: "warn",
  "metadata-changed": "info",
  "meaningful-message": "warn",
  "message-differs": "info",
  "lfs-pointer": "warn",
  "setup-changed": "warn",
  "egress-refused": "info",
  "no-change": "warn",
  "stale-base": "warn",
  "validation-failed": "block",
  "validation-missing": "block",
} as const satisfies Record<string, Severity>;

export type FindingCode = keyof typeof FINDINGS;

export function isFindingCode(text: string): text is FindingCode {
  return Object.hasOwn(FINDINGS, text);
}

/**
 * Codes whose severity nobody can lower: what decides about guardloop itself, a credential that certainly leaks, and
 * what has a flag of its own to pass it over.
 */
export const NEVER_LOWERED: ReadonlySet<FindingCode> = new Set([
  "control-file",
  "secret-in-use",
  "validation-failed",
  "validation-missing",
]);

/** A severity that policy gives to a code. */
export interface PolicyLevel {
  readonly code: FindingCode;
  readonly severity: Severity;
}

/** What the configuration says about findings, frozen with the run. */
export interface FindingPolicy {
  /** Globs from the repository's root; a change below one is `protected-policy`. */
  readonly protected: readonly string[];
  /** Never below a code's default. Counts also where the same code is in `lower`. */
  readonly raise: readonly PolicyLevel[];
  /** Never above a code's default. */
  readonly lower: readonly PolicyLevel[];
}

export const NO_POLICY: FindingPolicy = { protected: [], raise: [], lower: [] };
