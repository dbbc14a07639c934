import type { ReviewFacts, SecretSeen } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";

/** Credentials in what the branch adds, by place and kind. */
export function secretFindings(facts: ReviewFacts): readonly Finding[] {
  const known = facts.secrets.filter((one) => one.certainty === "known");
  const suspected = facts.secrets.filter((one) => one.certainty === "suspected");
  return [
    ...list(
      "secret-in-use",
      "These places hold the value of a credential that is in use on this machine.",
      facts.secretsInUse.map(shown),
    ),
    ...list(
      "secret-added",
      "Added lines or commit messages look like credentials.",
      known.map(shown),
    ),
    ...list(
      "secret-suspected",
      "A password, token or key seems to be written out here.",
      suspected.map(shown),
    ),
    ...list(
      "secret-scan-incomplete",
      "Not everything could be searched for secrets.",
      facts.notScanned,
    ),
  ];
}

function shown({ where, what }: SecretSeen): string {
  return `${where} (${what})`;
}

function list(code: Finding["code"], why: string, paths: readonly string[]): readonly Finding[] {
  return paths.length === 0 ? [] : [finding(code, why, [...new Set(paths)])];
}
