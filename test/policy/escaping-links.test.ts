import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { array, assert, constantFrom, dictionary, property } from "fast-check";
import { expect, test } from "vitest";
import { leadsOut } from "../../src/policy/escaping-links.ts";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";

test.each([
  [{ a: "/etc/passwd" }, "a"],
  [{ "d/a": "../../x" }, "d/a"],
  [{ a: "d/.GIT/config" }, "a"],
  // `d/..` is the top of the tree, but d leads into e/f, and from there `..` twice and once more is outside.
  [{ d: ".", a: "d/../x" }, "a"],
  [{ "e/d": "..", a: "e/d/../x" }, "a"],
  [{ a: "b/x", b: "/" }, "a"],
  [{ a: "b", b: ".git/hooks" }, "a"],
])("%j leads out by %s", (links, path) => {
  const all = new Map(Object.entries<string>(links));
  expect(leadsOut({ path, target: all.get(path) ?? "" }, all)).toBe(true);
});

test.each([
  [{ "d/a": "../x" }, "d/a"],
  [{ d: "e/f", a: "d/../x" }, "a"],
  [{ a: "b", b: "a" }, "a"],
  [{ a: "./b//c/." }, "a"],
  [{ a: ".gitignore" }, "a"],
])("%j stays inside by %s", (links, path) => {
  const all = new Map(Object.entries<string>(links));
  expect(leadsOut({ path, target: all.get(path) ?? "" }, all)).toBe(false);
});

const part = constantFrom("..", "..", ".", "a", "b", "c", "d");
const target = array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const tree = dictionary(constantFrom("a", "b", "d/a", "d/b", "d/e/a"), target, {
  minKeys: 1,
});

test("whatever the kernel follows out of the tree is found", NO_SECOND_TRY, () => {
  let outside = 0;
  const missed: unknown[] = [];
  assert(
    property(tree, (links) => {
      const all = new Map(Object.entries(links));
      for (const path of followedOutside(links)) {
        outside += 1;
        if (!leadsOut({ path, target: all.get(path) ?? "" }, all)) missed.push({ links, path });
      }
    }),
    propertyRuns(500),
  );
  expect(missed).toEqual([]);
  expect(outside).toBeGreaterThan(50);
});

/** The links by which the kernel leaves the tree, in a real one. */
function followedOutside(links: Readonly<Record<string, string>>): readonly string[] {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "guardloop-links-")));
  const top = join(root, "up", "top");
  for (const directory of ["c", "d/c", "d/e"]) mkdirSync(join(top, directory), { recursive: true });
  for (const [path, to] of Object.entries(links)) symlinkSync(to, join(top, path));
  const outside = Object.keys(links).filter((path) => {
    try {
      const real = realpathSync(join(top, path));
      return real !== top && !real.startsWith(`${top}/`);
    } catch {
      // Dangling or a loop: nothing to compare with.
      return false;
    }
  });
  rmSync(root, { recursive: true, force: true });
  return outside;
}
