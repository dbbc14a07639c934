import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { gitIn } from "../../src/guest/git.ts";
import { moveByDifference, moveByTree } from "../../src/guest/own-index.ts";

const root = mkdtempSync(join(tmpdir(), "guardloop-own-index-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const work = join(root, "work");
const gitDir = join(root, "own.git");
mkdirSync(work);

function git(args: readonly string[], input = "", index = join(root, "scratch.index")): string {
  const env = {
    GIT_DIR: gitDir,
    GIT_WORK_TREE: work,
    GIT_INDEX_FILE: index,
    GIT_AUTHOR_NAME: "A",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "A",
    GIT_COMMITTER_EMAIL: "a@example.com",
  };
  return execFileSync("/usr/bin/git", args, { cwd: work, env, input, encoding: "latin1" });
}
execFileSync("/usr/bin/git", ["init", "--quiet", "--bare", gitDir], { env: {} });
const BLOBS = ["one", "two", "three"].map((text) =>
  git(["hash-object", "-w", "--stdin"], text).trim(),
);

/** Of these some are below others: a file takes the place of a directory, and the other way round. */
const PATH = fc.constantFrom("a", "a/b", "a/b/c", "a.b", "d", "d/\xff", "e f", 'g"\t', "h/i/j/k");
const ENTRY = fc.constantFrom(
  ...BLOBS.flatMap((id) => ["100644", "100755", "120000"].map((mode) => `${mode} ${id}`)),
  `160000 ${"1".repeat(40)}`,
);

function commitOf(files: Readonly<Record<string, string>>): string {
  git(["read-tree", "--empty"]);
  const rows = Object.entries(files).map(([path, entry]) => `${entry}\t${path}\0`);
  execFileSync("/usr/bin/git", ["update-index", "-z", "--index-info"], {
    cwd: work,
    env: { GIT_DIR: gitDir, GIT_INDEX_FILE: join(root, "scratch.index") },
    input: Buffer.from(rows.join(""), "latin1"),
  });
  return git(["commit-tree", "-m", "x", git(["write-tree"]).trim()]).trim();
}

/** Everything that an index says of its files, with their times. */
const said = (index: string): string => git(["ls-files", "--stage", "--debug"], "", index);

/** An index with what `git update-index --refresh` learns of the files of a commit. */
function baseIndex(commit: string): string {
  rmSync(work, { recursive: true });
  mkdirSync(work);
  const index = join(root, "base.index");
  rmSync(index, { force: true });
  git(["read-tree", "-u", "--reset", commit], "", index);
  return index;
}

test("an index moved by the difference says what one moved by the whole tree says", async () => {
  const files = fc.dictionary(PATH, ENTRY, { maxKeys: 8 });
  await fc.assert(
    fc.asyncProperty(files, files, async (before, after) => {
      const [base, commit] = [commitOf(before), commitOf(after)];
      const from = baseIndex(base);
      const own = gitIn(gitDir, "/usr/bin/git", "/usr/bin:/bin");
      const moved = async (
        name: string,
        move: (index: { git: typeof own; view: object }) => Promise<boolean>,
      ): Promise<string> => {
        const indexFile = join(root, name);
        copyFileSync(from, indexFile);
        expect(await move({ git: own, view: { indexFile, workTree: work, cwd: work } })).toBe(true);
        return said(indexFile);
      };
      const byTree = await moved("tree.index", (index) => moveByTree(index, commit));
      const byDifference = await moved("difference.index", (index) =>
        moveByDifference(index, base, commit),
      );
      expect(byDifference).toBe(byTree);
    }),
    { numRuns: 60 },
  );
});

test("files that did not change keep what the index knows of them", async () => {
  const base = commitOf({ a: `100644 ${BLOBS[0]}`, "b/c": `100644 ${BLOBS[0]}` });
  const commit = commitOf({ a: `100644 ${BLOBS[0]}`, "b/c": `100644 ${BLOBS[1]}` });
  const indexFile = baseIndex(base);
  const own = gitIn(gitDir, "/usr/bin/git", "/usr/bin:/bin");
  const path = join(work, "b/c");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "two");
  const view = { indexFile, workTree: work, cwd: work };
  expect(await moveByDifference({ git: own, view }, base, commit)).toBe(true);
  expect(git(["diff-files", "--name-only"], "", indexFile)).toBe("b/c\n");
});
