import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FAILURES } from "../../src/core/failures.ts";
import { FINDINGS } from "../../src/policy/finding.ts";
import { ROOT, codesIn, readDocument, tablesOf } from "./documents.ts";

interface Row {
  readonly ids: readonly string[];
  readonly ending: string;
  readonly tests: string;
}

const rows: readonly Row[] = tablesOf(readDocument("docs/hazards.md")).flatMap((table) =>
  table.rows.map(([ids = "", , ending = "", tests = ""]) => ({
    ids: ids.split(" "),
    ending,
    tests,
  })),
);

/** `A1` to `A9`, for example. */
function numbered(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
}

const CATALOGUE = [
  ...numbered("A", 9),
  ...numbered("B", 8),
  ...numbered("C", 10),
  ...numbered("D", 16),
  ...numbered("E", 6),
  ..."01 02 02b 03 04 05 06 07 08 09 10 11 12 13 14 14c 15 16 16b 17 18 19 20 21 22 23 24 25 26 27".split(
    " ",
  ),
  ..."28 29 30 31b 62 120 121 122 123 124c 130 132 140 142 145 146 147 149 166".split(" "),
  ...numbered("X", 2),
  ...numbered("R", 3),
  ...numbered("S", 3),
  ...numbered("V", 3),
  ...numbered("P", 3),
  ...numbered("K", 3),
];

/** The tests that a cell names and that are not there: a file, and how names in it begin. */
function missing(cell: string): readonly string[] {
  let file = "";
  let text = "";
  const wrong: string[] = [];
  for (const code of codesIn(cell)) {
    if (code.startsWith("test/")) {
      file = code;
      const path = join(ROOT, code);
      text = existsSync(path) ? readFileSync(path, "utf8") : "";
      if (text === "") wrong.push(`no file ${code}`);
    } else if (!['"', "'", "`"].some((quote) => text.includes(quote + code)))
      wrong.push(`${file} has no test that begins with ${code}`);
  }
  return wrong;
}

describe("docs/hazards.md", () => {
  test("has every id of the catalogue, each once", () => {
    expect(rows.flatMap((row) => row.ids).toSorted()).toEqual(CATALOGUE.toSorted());
  });

  test("names for every hazard a test that is there, or says why there is none", () => {
    const untested = rows.filter((row) => codesIn(row.tests).length < 2);
    expect(
      untested.filter((row) => !/^not tested: ./.test(row.ending)).map((row) => row.ids),
    ).toEqual([]);
    expect(rows.flatMap((row) => missing(row.tests))).toEqual([]);
  });

  test("a test that does not exist is noticed", () => {
    expect(missing("`test/docs/json.test.ts` `flies`")).toEqual([
      "test/docs/json.test.ts has no test that begins with flies",
    ]);
    expect(missing("`test/no.test.ts` `x`")).toHaveLength(2);
  });

  test("names only failures and findings that exist", () => {
    const known = new Set<string>([...Object.keys(FAILURES), ...Object.keys(FINDINGS)]);
    const named = rows
      .flatMap((row) => codesIn(row.ending))
      .filter((code) => /^[a-z-]+$/.test(code));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((code) => !known.has(code))).toEqual([]);
  });
});
