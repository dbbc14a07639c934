import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { holdAtMost } from "../../src/files/few-entries.ts";

/** Two trees of five entries each: three files, a directory and a link to a larger tree. */
function twoTrees(): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), "guardloop-few-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return ["one", "two"].map((name) => {
    const tree = join(root, name);
    mkdirSync(join(tree, "below"), { recursive: true });
    for (const file of ["a", "b", "below/c"]) writeFileSync(join(tree, file), "");
    symlinkSync("/usr", join(tree, "link"));
    return tree;
  });
}

test("entries of all trees count together, and a link is one entry", () => {
  const trees = twoTrees();
  expect(holdAtMost(trees, 10)).toBe(true);
  expect(holdAtMost(trees, 9)).toBe(false);
  expect(holdAtMost(trees.slice(1), 5)).toBe(true);
  expect(holdAtMost(trees.slice(1), 4)).toBe(false);
});

test("what is not there, and what is no directory, holds nothing", () => {
  const [tree = ""] = twoTrees();
  expect(holdAtMost([join(tree, "missing"), join(tree, "a"), join(tree, "link")], 0)).toBe(true);
});

test("nobody knows how many entries a name that is not UTF-8 hides", () => {
  const [tree = ""] = twoTrees();
  mkdirSync(Buffer.concat([Buffer.from(`${tree}/x`), Buffer.from([0xff])]));
  expect(holdAtMost([tree], 100)).toBe(false);
});
