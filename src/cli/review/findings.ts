import { visible } from "../../core/visible.ts";
import type { Finding, Severity } from "../../policy/finding.ts";
import { count } from "../output/count.ts";
import type { Output } from "../output/output.ts";
import { type Segment, bold, dim, red, yellow } from "../output/text.ts";

const PAINT: Readonly<Record<Severity, (text: string) => Segment>> = {
  block: red,
  warn: yellow,
  info: dim,
};
const SEVERITIES = ["block", "warn", "info"] as const;

/** All findings, the weightiest first, each with its paths. */
export function printFindings(output: Output, findings: readonly Finding[]): void {
  output.result(bold(findings.length === 0 ? "No findings" : count(findings.length, "finding")));
  for (const one of findings) printFinding(output, one);
}

export function printFinding(output: Output, one: Finding): void {
  output.result(
    "  ",
    PAINT[one.severity](one.severity.padEnd(5)),
    " ",
    bold(one.code),
    `  ${visible(one.why, "one-line")}`,
    dim(one.policy === null ? "" : ` (${one.policy} by policy)`),
  );
  for (const path of one.paths) output.result("          ", visible(path, "one-line"));
  if (one.morePaths > 0) output.result("          ", `… and ${one.morePaths} more`);
}

/** `1 block, 2 warn`, for the summary. */
export function findingCounts(findings: readonly Finding[]): readonly Segment[] {
  const parts = SEVERITIES.map((severity) => ({
    severity,
    number: findings.filter((one) => one.severity === severity).length,
  })).filter(({ number }) => number > 0);
  if (parts.length === 0) return ["none"];
  return parts.flatMap(({ severity, number }, index) => [
    index === 0 ? "" : ", ",
    PAINT[severity](`${number} ${severity}`),
  ]);
}
