import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type BaseTree, isWhole, moveTree, writeTree } from "../../src/git/base-tree.ts";
import { type SampleRepository, sampleRepository } from "../lease/sample-repository.ts";
import { CONTAINER_USER } from "./container-user.ts";
import { plumbingIn } from "./plumbing.ts";

function treeIn(repository: SampleRepository, name = "tree"): BaseTree {
  const directory = join(repository.home, name);
  mkdirSync(directory, { recursive: true });
  return {
    program: "/usr/bin/git",
    env: repository.env,
    files: join(directory, "files"),
    index: join(directory, "index"),
    gitDir: join(directory, "git"),
    objectsDir: join(repository.topLevel, ".git/objects"),
    owner: CONTAINER_USER,
  };
}

/** A commit with exactly these files; a name that ends in `@` is a link, one in `*` executable. */
function commit(repository: SampleRepository, files: Readonly<Record<string, string>>): string {
  const git = plumbingIn(repository);
  git(["read-tree", "--empty"]);
  for (const [key, content] of Object.entries(files)) {
    const name = key.replace(/[@*]$/, "");
    const mode = key.endsWith("@") ? "120000" : key.endsWith("*") ? "100755" : "100644";
    const id = git(["hash-object", "-w", "--stdin"], content);
    git(["update-index", "--add", "--cacheinfo", `${mode},${id},${name}`]);
  }
  return git(["commit-tree", "-m", "x", git(["write-tree"])]);
}

/** Everything there is, with kind, mode, owner and content. */
function listing(directory: string, below = ""): readonly string[] {
  return readdirSync(join(directory, below))
    .toSorted()
    .flatMap((name) => {
      const path = below === "" ? name : `${below}/${name}`;
      const at = join(directory, path);
      const stat = lstatSync(at);
      const row = `${path} ${stat.mode.toString(8)} ${stat.uid}:${stat.gid}`;
      if (stat.isDirectory()) return [row, ...listing(directory, path)];
      return [stat.isFile() ? `${row} ${JSON.stringify(readFileSync(at, "latin1"))}` : row];
    });
}

function fresh(repository: SampleRepository, at: string): Promise<readonly string[]> {
  const tree = treeIn(repository, `fresh-${at}`);
  return writeTree(tree, at).then((written) => {
    expect(written.ok).toBe(true);
    return listing(tree.files);
  });
}

/** What `git status` of a container would look into: files whose times the index does not know. */
function notKnown(tree: BaseTree): string {
  return execFileSync("git", [`--git-dir=${tree.gitDir}`, "diff-files", "--name-only"], {
    cwd: tree.files,
    encoding: "utf8",
    env: {
      GIT_WORK_TREE: tree.files,
      GIT_INDEX_FILE: tree.index,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: tree.objectsDir,
    },
  });
}

const MOVES: readonly (readonly [
  what: string,
  from: Readonly<Record<string, string>>,
  to: Readonly<Record<string, string>>,
])[] = [
  ["a file that changes", { a: "1\n", b: "2\n" }, { a: "3\n", b: "2\n" }],
  ["files that come and go, with their directories", { "x/y/z": "1" }, { "p/q/r": "1" }],
  ["a file that becomes a directory", { a: "1" }, { "a/b": "1" }],
  ["a directory that becomes a file", { "a/b": "1", "a/c": "2" }, { a: "1" }],
  ["a directory that becomes a link out of the tree", { "a/passwd": "1" }, { "a@": "/etc" }],
  ["a link that becomes a directory", { "a@": "/etc" }, { "a/passwd": "1" }],
  ["a mode that changes", { a: "1" }, { "a*": "1" }],
  ["a name that Git would quote", { 'ü\t"': "1" }, { 'ü\t"': "2", "ö\\": "3" }],
  [
    "attributes that change how another file is written",
    { a: "1\n2\n" },
    { a: "1\n2\n", ".gitattributes": "a text eol=crlf\n" },
  ],
  [
    "attributes that go",
    { a: "1\n", "d/.gitattributes": "* text eol=crlf\n", "d/a": "1\n" },
    { a: "1\n", "d/a": "1\n" },
  ],
  ["everything", { a: "1" }, { b: "1" }],
];

describe("the files of a base, moved from one commit to another", () => {
  test.each(MOVES)("are as if they were written anew: %s", async (_what, before, after) => {
    const repository = sampleRepository();
    const [from, to] = [commit(repository, before), commit(repository, after)];
    const tree = treeIn(repository);
    expect((await writeTree(tree, from)).ok).toBe(true);
    expect((await moveTree(tree, { from, to })).ok).toBe(true);
    expect(listing(tree.files)).toEqual(await fresh(repository, to));
    expect(notKnown(tree)).toBe("");
    expect((await moveTree(tree, { from: to, to: from })).ok).toBe(true);
    expect(listing(tree.files)).toEqual(await fresh(repository, from));
    expect(statSync("/etc/passwd").uid).toBe(0);
  });

  test("only what differs is written", async () => {
    const repository = sampleRepository();
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`d${at % 4}/f${at}`, `${at}`]),
    );
    const from = commit(repository, many);
    const to = commit(repository, { ...many, "d1/f1": "changed", "d5/new": "new" });
    const tree = treeIn(repository);
    await writeTree(tree, from);
    const changes = () =>
      Object.keys(many).map(
        (name) => `${name} ${statSync(join(tree.files, name), { bigint: true }).ctimeNs}`,
      );
    const before = changes();
    expect(await moveTree(tree, { from, to })).toEqual({ ok: true, value: 2 });
    expect(
      before.filter((one, at) => one !== changes()[at]).map((one) => one.split(" ")[0]),
    ).toEqual(["d1/f1"]);
  });

  test("are older than the index by the clock's second, so that Git looks into none of them again", async () => {
    const repository = sampleRepository();
    const from = commit(repository, { a: "1", "b/c": "2", "d@": "a" });
    const to = commit(repository, { a: "3", "b/c": "2", "d@": "b", e: "4" });
    const tree = treeIn(repository);
    const young = () => {
      const index = Math.floor(statSync(tree.index).mtimeMs / 1000);
      return ["a", "b/c", "d", "e"].filter(
        (name) =>
          (lstatSync(join(tree.files, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) >=
          index * 1000,
      );
    };
    await writeTree(tree, from);
    expect(young()).toEqual([]);
    await moveTree(tree, { from, to });
    expect(young()).toEqual([]);
    expect(notKnown(tree)).toBe("");
  });

  test("no filter, hook or driver of anybody's runs", async () => {
    const repository = sampleRepository();
    const marker = join(repository.home, "marker");
    const config = `[filter "f"]\n\tsmudge = touch ${marker}\n[core]\n\tfsmonitor = touch ${marker}\n`;
    const from = commit(repository, { a: "1", ".gitattributes": "* filter=f\n" });
    const to = commit(repository, { a: "2", ".gitattributes": "* filter=f\n" });
    writeFileSync(join(repository.home, ".gitconfig"), config);
    const tree = treeIn(repository);
    await writeTree(tree, from);
    await moveTree(tree, { from, to });
    expect(readFileSync(join(tree.files, "a"), "utf8")).toBe("2");
    expect(existsSync(marker)).toBe(false);
  });

  test("what was lost or cut short is seen by its content", async () => {
    const repository = sampleRepository();
    const at = commit(repository, { a: "1234", b: "5678" });
    const tree = treeIn(repository);
    await writeTree(tree, at);
    expect(await isWhole(tree, at)).toBe(true);
    const { atime, mtime } = statSync(join(tree.files, "a"));
    writeFileSync(join(tree.files, "a"), "4321");
    utimesSync(join(tree.files, "a"), atime, mtime);
    expect(await isWhole(tree, at)).toBe(false);
    rmSync(join(tree.files, "a"));
    expect(await isWhole(tree, at)).toBe(false);
  });
});
