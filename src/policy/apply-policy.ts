import { type FindingPolicy, FINDINGS, SEVERITIES, type Severity } from "../core/findings.ts";
import type { Finding } from "./finding.ts";

/** Gives findings the severities that policy asks for. A code that is both raised and lowered is raised. */
export function applyPolicy(
  findings: readonly Finding[],
  policy: FindingPolicy,
): readonly Finding[] {
  return findings.map((one) => {
    const level = [...policy.raise, ...policy.lower].find(({ code }) => code === one.code);
    if (level === undefined || level.severity === FINDINGS[one.code]) return one;
    const raised = rank(level.severity) > rank(FINDINGS[one.code]);
    return { ...one, severity: level.severity, policy: raised ? "raised" : "lowered" };
  });
}

/** The weightiest first; otherwise as they came. */
export function weightiestFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => rank(b.severity) - rank(a.severity));
}

function rank(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}
