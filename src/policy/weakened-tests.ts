import picomatch from "picomatch";
import { once } from "../core/once.ts";
import type { AddedLine, Change } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";

const testNames = once(() =>
  picomatch(
    [
      "**/{test,tests,__tests__,spec,specs}/**",
      "**/*.{test,spec}.*",
      "**/*_{test,spec}.*",
      "**/test_*.py",
      "**/*Test.{java,kt,cs}",
      "**/conftest.py",
    ],
    { dot: true, flags: "is" },
  ),
);

/** How the usual test libraries leave a test out. */
const SKIPS =
  /\b(?:(?:it|test|describe|context|suite)\.(?:skip|todo|only|fails)\b|x(?:it|describe|test)\(|@(?:unittest|pytest\.mark)\.skip|@(?:Disabled|Ignore)\b|t\.Skip(?:Now)?\(|#\[ignore)/;

/** Tests that the branch deletes, shrinks or skips: an agent may make a suite pass that way. */
export function testFindings(
  changes: readonly Change[],
  lines: readonly AddedLine[],
): readonly Finding[] {
  const isTest = testNames();
  const tests = changes.filter((change) => isTest(change.path));
  const deleted = tests.filter((change) => change.kind === "deleted").map((change) => change.path);
  const shrunk = tests
    .filter((change) => change.kind === "modified" && change.deletedLines > change.addedLines)
    .map((change) => `${change.path} (+${change.addedLines} -${change.deletedLines})`);
  const skipped = lines
    .filter((one) => isTest(one.path) && SKIPS.test(one.line))
    .map((one) => one.path);
  return [
    ...(deleted.length > 0 ? [finding("tests-deleted", "Tests were deleted.", deleted)] : []),
    ...(shrunk.length > 0
      ? [finding("tests-shrunk", "Tests lost more lines than they gained.", shrunk)]
      : []),
    ...(skipped.length > 0
      ? [
          finding("tests-skipped", "Added lines leave tests out, or run only some.", [
            ...new Set(skipped),
          ]),
        ]
      : []),
  ];
}
