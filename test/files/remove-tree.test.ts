import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeTree } from "../../src/files/remove-tree.ts";

/** A directory `tree` filled by a shell script, beside a directory `outside` with one file in it. */
function filled(script: string): { readonly tree: string; readonly outside: string } {
  const root = mkdtempSync(join(tmpdir(), "guardloop-remove-"));
  onTestFinished(() => {
    // rm(1) knows no path too long.
    execFileSync("sh", ["-c", 'chmod -R u+rwx "$1" 2>/dev/null; rm -rf "$1"', "sh", root]);
  });
  const tree = join(root, "tree");
  const outside = join(root, "outside");
  mkdirSync(tree);
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "mine\n");
  execFileSync("sh", ["-ec", script], { cwd: tree, stdio: "inherit" });
  return { tree, outside };
}

/** cd(1) of a shell cannot go where the path is too long; chdir(2) can. */
const NEST = `"${process.execPath}" -e 'for (let n = 0; n < 1500; n += 1) { require("fs").mkdirSync("d123456789"); process.chdir("d123456789"); } require("fs").writeFileSync("file", "x")'`;

test.each([
  ["ordinary files", "mkdir -p a/b; echo x > a/b/c"],
  ["directories without any permission", "mkdir -p a/b; echo x > a/b/c; chmod 0 a/b; chmod 0 a"],
  ["names that are not UTF-8", `mkdir "$(printf 'd\\377')"; echo x > "$(printf 'd\\377/f\\376')"`],
  [
    "names that are not UTF-8 in directories without permission",
    `mkdir -p "$(printf 'd\\377/e\\377')"; chmod 0 "$(printf 'd\\377/e\\377')" "$(printf 'd\\377')"`,
  ],
  ["directories nested deeper than a path can say", NEST],
  [
    "the same, with permissions and names against it",
    `${NEST}; mkdir "$(printf 'd\\377')"; chmod 500 d123456789 .`,
  ],
  ["a FIFO and a socket's kin", "mkfifo pipe; ln -s nowhere link"],
])("removes %s", async (_, script) => {
  const { tree } = filled(script);
  await removeTree(tree);
  expect(existsSync(tree)).toBe(false);
});

test("follows no link, not even on the long way", async () => {
  const { tree, outside } = filled(`ln -s ../outside link; ln -s ../../outside/file file; ${NEST}`);
  await removeTree(tree);
  expect(existsSync(tree)).toBe(false);
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("mine\n");
});

test("a link in the place of the directory is removed itself", async () => {
  const { tree, outside } = filled("true");
  execFileSync("sh", ["-ec", `rmdir "$1"; ln -s "$2" "$1"`, "sh", tree, outside]);
  await removeTree(tree);
  expect(() => lstatSync(tree)).toThrow("ENOENT");
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("mine\n");
});

test("what is not there is removed already", async () => {
  const { tree } = filled("true");
  await removeTree(tree);
  await removeTree(tree);
  expect(existsSync(tree)).toBe(false);
});
