import type { AddedLine } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";

const LATIN = /\p{Script=Latin}/u;
/**
 * Cyrillic, and the Greek letters that look like Latin ones (Unicode UTS #39, confusables). Letters such as the delta
 * of `Δx` stand in honest formulas.
 */
const LOOK_ALIKE = /[\p{Script=Cyrillic}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺανικορυχϲϳ]/u;
const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
/** In prose a word of two scripts is a matter of grammar, not of what a program does. */
const PROSE = /\.(?:md|markdown|txt|rst|adoc|po|pot|html?)$/i;

/** Words that mix Latin letters with others that look the same: two names that read alike may be two things. */
export function mixedScriptFindings(lines: readonly AddedLine[]): readonly Finding[] {
  const paths = lines
    .filter(({ path, line }) => !PROSE.test(path) && LOOK_ALIKE.test(line) && hasMixedWord(line))
    .map((one) => one.path);
  return paths.length === 0
    ? []
    : [
        finding(
          "mixed-scripts",
          "Words in added lines mix Latin letters with Cyrillic or Greek ones that look the same.",
          [...new Set(paths)],
        ),
      ];
}

function hasMixedWord(line: string): boolean {
  return (line.match(WORD) ?? []).some((word) => LATIN.test(word) && LOOK_ALIKE.test(word));
}
