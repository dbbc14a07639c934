import type { ReviewFacts } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";

/** Comments with which a line or a file gets out of a checker's sight, as each tool documents them. */
const SWITCHES =
  /secretlint-disable|eslint-disable|oxlint-disable|biome-ignore|stylelint-disable|tslint:disable|deno-lint-ignore|prettier-ignore|@ts-(?:nocheck|ignore|expect-error)|#\s*nosec\b|\bnosemgrep\b|#\s*noqa\b|#\s*type:\s*ignore|#\s*pyright:\s*ignore|pylint:\s*disable|gitleaks:allow|trufflehog:ignore|pragma:\s*(?:allowlist|no cover)|ggignore|\/\/\s*nolint\b|rubocop:disable|shellcheck disable|hadolint ignore|checkov:skip|tfsec:ignore|NOSONAR|@phpstan-ignore|@SuppressWarnings|#!?\[allow\(|(?:istanbul|v8|c8) ignore/i;

/** Added lines that switch a checker off: the cheapest way for an agent to make one pass. */
export function disabledCheckFindings(facts: ReviewFacts): readonly Finding[] {
  const places = facts.addedLines.flatMap(({ path, line, lineNumber }) => {
    const [found] = SWITCHES.exec(line) ?? [];
    if (found === undefined) return [];
    return [`${path}${lineNumber === undefined ? "" : `:${lineNumber}`} (${found})`];
  });
  return places.length === 0
    ? []
    : [finding("checks-disabled", "These lines switch a checker off.", places)];
}
