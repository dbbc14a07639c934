import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { hasGitDirectory, obeyedName } from "../../src/git/dangerous-names.ts";
import { refuseStep, refuseTreeSize } from "../../src/git/refuse-tree.ts";
import { LIMITS } from "../../src/core/limits.ts";
import { type SampleRepository, sampleRepository } from "../lease/sample-repository.ts";
import { plumbingIn } from "./plumbing.ts";

// Trees made by hand, past every check of Git's own: what is refused here is refused whatever version of Git is there.

interface Entry {
  readonly name: string;
  readonly mode?: string;
  readonly content?: string | Buffer;
}

/** A commit on HEAD whose tree has these entries on top, next to what is there; names may hold slashes. */
function commitWith(repository: SampleRepository, entries: readonly Entry[]): string {
  const git = plumbingIn(repository);
  const tree = (at: readonly Entry[], kept: string): string => {
    const files = at.filter((entry) => !entry.name.includes("/"));
    const below = at.filter((entry) => entry.name.includes("/"));
    const directories = new Set(below.map((entry) => entry.name.split("/", 1)[0] ?? ""));
    const rows = [
      ...files.map(({ name, mode = "100644", content = "x\n" }) => {
        const id = git(["hash-object", "-w", "--stdin"], content);
        return `${mode} blob ${id}\t${name}\0`;
      }),
      ...[...directories].map((name) => {
        const inside = below
          .filter((entry) => entry.name.startsWith(`${name}/`))
          .map((entry) => ({ ...entry, name: entry.name.slice(name.length + 1) }));
        return `040000 tree ${tree(inside, "")}\t${name}\0`;
      }),
    ];
    return git(["mktree", "-z"], Buffer.from(kept + rows.join(""), "utf8"));
  };
  const names = new Set(entries.map((entry) => entry.name));
  const kept = git(["ls-tree", "-z", "HEAD"])
    .split("\0")
    .filter((row) => row !== "" && !names.has(row.split("\t")[1] ?? ""));
  const root = tree(entries, kept.map((row) => `${row}\0`).join(""));
  return git(["commit-tree", root, "-p", "HEAD", "-m", "Do T1"]);
}

async function judge(repository: SampleRepository, entries: readonly Entry[]): Promise<string> {
  const from = repository.head();
  const to = commitWith(repository, entries);
  const verdict = await refuseStep(repository.git, { from, to });
  return verdict.ok ? "fine" : `${verdict.error.code}: ${verdict.error.message}`;
}

test("ordinary files are fine, in any directory and with letters of any language", async () => {
  const names = ["a.txt", "docs/ä/日本.md", "x y/.gitkeep", ".github/a", "gitted", "a~1", "..a"];
  expect(
    await judge(
      sampleRepository(),
      names.map((name) => ({ name })),
    ),
  ).toBe("fine");
});

describe("a new name that is dangerous to check out: refused by our own check", () => {
  test.each([
    ["D2: .git", ".git/config", "into what some file system takes for .git"],
    ["D2: another case", "d/.GiT/hooks/post-checkout", "takes for .git"],
    ["D2: NTFS short name", "git~1/config", "takes for .git"],
    ["D2: NTFS short name, another case", "GIT~1/config", "takes for .git"],
    ["D2: NTFS drops dots", ".git./config", "takes for .git"],
    ["D2: NTFS drops blanks", ".git . /config", "takes for .git"],
    ["D2: NTFS streams", ".git::$INDEX_ALLOCATION/config", "takes for .git"],
    ["D2: NTFS streams after a blank", ".git ::$INDEX_ALLOCATION/config", "takes for .git"],
    ["D2: HFS ignores a zero-width non-joiner", ".g\u200Cit/config", "takes for .git"],
    ["D2: HFS ignores a mark at the end", ".git\uFEFF/config", "takes for .git"],
    ["D2: HFS, a file and no directory", "d/.GI\u206ET", "takes for .git"],
    ["D2: a backslash for a slash", "a\\.git\\config", "takes for .git"],
    ["D1: two dots", "../evil", "leads elsewhere"],
    ["D1: a dot", "d/./evil", "leads elsewhere"],
    ["D4: a line feed", "a\nb", "control character"],
    ["D4: a tab", "a\tb", "control character"],
    ["D4: an escape", "d/\u001B[31m", "control character"],
    ["D4: DEL", "a\u007F", "control character"],
    ["D8: a long component", `d/${"n".repeat(256)}`, "a name of 256 bytes in it; the limit is 255"],
    ["D8: long in bytes alone", "ä".repeat(128), "a name of 256 bytes in it; the limit is 255"],
    ["D8: a long path", `${"d/".repeat(20)}${"long-name/".repeat(410)}x`, "limit is 4096"],
    ["D8: a deep path", `${"d/".repeat(256)}x`, "257 levels; the limit is 256"],
  ])("%s", async (_, name, says) => {
    const verdict = await judge(sampleRepository(), [{ name }]);
    expect(verdict).toMatch(/^import-refused: "/);
    expect(verdict).toContain(says);
  });

  test("a name of the same kind that the user has already may be worked on", async () => {
    const repository = sampleRepository();
    const odd = "escape\u001Bhere.txt";
    repository.run(["update-ref", "HEAD", commitWith(repository, [{ name: odd }])]);
    expect(await judge(repository, [{ name: odd, content: "changed\n" }])).toBe("fine");
  });
});

test("a part of a path is read for itself where the whole is not UTF-8", () => {
  const among = (name: string): string =>
    Buffer.concat([Buffer.from([0xff]), Buffer.from(name)]).toString("latin1");
  expect(hasGitDirectory(among("/.g\u200Cit/config"))).toBe(true);
  expect(obeyedName(among("/.gita\u200Cttributes"))).toBe(".gitattributes");
  expect(hasGitDirectory(among("/.g\u00E9it/config"))).toBe(false);
});

test("names that only look like Git's are not taken for it", () => {
  const names = [".gitx/a", "git/a", "agit~1", ".git-x", "x.git", ".git1", "git~10/a", "d/.gitea"];
  expect(names.filter(hasGitDirectory)).toEqual([]);
  const others = ["gitmodules", ".gitmodules2", "x.gitmodules", "gitmod", "gitmod~", "g~1", "a~1"];
  expect(others.filter((name) => obeyedName(name) !== undefined)).toEqual([]);
});

describe("D2: a file that Git obeys as a symbolic link: refused", () => {
  test.each([
    ".gitmodules",
    "d/.GITMODULES",
    "gitmod~1",
    "GI7EBA~1",
    "gi7eb~11",
    ".gitmodules. ",
    ".gitmodules::$DATA",
    ".gitm\u200Codules",
    ".gitattributes",
    "d/.gitattributes",
    "gitatt~1",
    "GI7D29~1",
    ".gitignore",
    "gitign~2",
    ".mailmap",
    ".MAILMAP",
    "mailma~1",
  ])("%j", async (name) => {
    const verdict = await judge(sampleRepository(), [{ name, mode: "120000", content: "x" }]);
    expect(verdict).toMatch(/^import-refused: .* is a symbolic link that some file system takes/);
  });

  test("and as one in the place of the user's file", async () => {
    const repository = sampleRepository();
    const link = { name: ".gitignore", mode: "120000", content: "/etc/passwd" };
    expect(await judge(repository, [link])).toContain('".gitignore" is a symbolic link');
  });
});

describe("D9 and D11: modes", () => {
  test.each([
    ["100664", "has the mode 100664"],
    ["104755", "has the mode 104755"],
  ])("%s", async (mode, says) => {
    // mktree normalises modes, as every Git of today does; the check must not depend on that.
    const verdict = await judge(sampleRepository(), [{ name: "run.sh", mode }]);
    expect(["fine", `import-refused: "run.sh" ${says}.`]).toContain(verdict);
  });
});

describe("D11: a new or changed .gitmodules", () => {
  const modules = (lines: string, name = "lib"): Entry => ({
    name: ".gitmodules",
    content: `[submodule "${name}"]\n${lines}`,
  });
  const usual = "\tpath = lib\n\turl = https://example.com/lib.git\n";

  test.each([
    ["two dots in the name", modules(usual, "../../x"), 'names a submodule "../../x"'],
    ["two dots behind a backslash", modules(usual, "a\\\\..\\\\b"), "names a submodule"],
    ["an option as URL", modules("\tpath = lib\n\turl = -u./payload\n"), 'the URL "-u./payload"'],
    ["ext::", modules('\tpath = lib\n\turl = "ext::sh -c touch% x"\n'), 'the URL "ext::sh'],
    [
      "another remote helper",
      modules("\tpath = lib\n\turl = fd::17/foo\n"),
      'the URL "fd::17/foo"',
    ],
    ["an option as host", modules("\tpath = lib\n\turl = ssh://-oProxyCommand=x/y\n"), "the URL"],
    ["an option as host after a user", modules("\tpath = lib\n\turl = a@-oX:y\n"), "the URL"],
    [
      "a line feed in a URL, encoded",
      modules("\tpath = lib\n\turl = https://x.example/%0ahost=y\n"),
      "the URL",
    ],
    ["a command", modules(`${usual}\tupdate = !touch x\n`), 'command of its own, "!touch x"'],
    ["an option as path", modules("\tpath = -x\n\turl = https://x.example\n"), 'the path "-x"'],
    ["an absolute path", modules("\tpath = /etc\n\turl = https://x.example\n"), 'the path "/etc"'],
    ["a path out", modules("\tpath = ../x\n\turl = https://x.example\n"), 'the path "../x"'],
    ["a path into .git", modules("\tpath = .git/x\n\turl = https://x.example\n"), "the path"],
    [
      "a carriage return after the path",
      modules('\tpath = "lib\r"\n\turl = https://x.example\n'),
      'the path "lib\\r"',
    ],
    [
      "another case of the file's name",
      { ...modules(usual, "../x"), name: ".GITMODULES" },
      "names",
    ],
    ["what Git cannot read", { name: ".gitmodules", content: "[submodule" }, "cannot be read"],
    [
      "more than a mebibyte",
      { name: ".gitmodules", content: "#".repeat(1024 * 1024 + 1) },
      "has 1048577 bytes; the limit is 1048576",
    ],
  ])("with %s: refused", async (_, entry, says) => {
    const verdict = await judge(sampleRepository(), [entry]);
    expect(verdict).toMatch(/^import-refused: "\.(gitmodules|GITMODULES)" /);
    expect(verdict).toContain(says);
  });

  test.each([
    ["a usual one", modules(usual)],
    ["a relative URL", modules("\tpath = lib\n\turl = ../lib.git\n")],
    ["one by ssh", modules("\tpath = deep/lib\n\turl = git@example.com:a/lib.git\n")],
    [
      "one below the top, which Git does not read",
      { ...modules(usual, "../x"), name: "t/.gitmodules" },
    ],
  ])("%s: left to the reviewer", async (_, entry) => {
    expect(await judge(sampleRepository(), [entry])).toBe("fine");
  });

  test("what was in it before is the user's own", async () => {
    const repository = sampleRepository();
    const before = modules(`${usual}\tupdate = !make\n`);
    repository.run(["update-ref", "HEAD", commitWith(repository, [before])]);
    const more = `${String(before.content)}[submodule "b"]\n\tpath = b\n\turl = https://x.example\n`;
    expect(await judge(repository, [{ ...before, content: more }])).toBe("fine");
  });
});

describe("D15: .gitattributes", () => {
  test("with a line that overflowed Git once: refused, wherever it is", async () => {
    const content = `* text\n${"a".repeat(2049)} text\n`;
    for (const name of [".gitattributes", "sub/.GitAttributes"])
      expect(await judge(sampleRepository(), [{ name, content }])).toContain(
        "has a line of 2054 bytes; the limit is 2048",
      );
  });

  test("with usual lines: left to the reviewer", async () => {
    const entry = { name: ".gitattributes", content: "*.png binary\n".repeat(500) };
    expect(await judge(sampleRepository(), [entry])).toBe("fine");
  });
});

describe("D12: sizes", () => {
  const limits = { treePaths: 8, blobBytes: 1000, allBlobBytes: 1500 };

  test("one file over the limit: refused with both numbers", async () => {
    const repository = sampleRepository();
    const from = repository.head();
    const to = commitWith(repository, [{ name: "big", content: "x".repeat(1001) }]);
    const verdict = await refuseStep(repository.git, { from, to }, limits);
    expect(verdict).toMatchObject({
      error: {
        code: "import-refused",
        message: '"big" has 1001 bytes; the limit of one file is 1000.',
      },
    });
  });

  test("the bytes of a step are those of its new and changed files", async () => {
    const repository = sampleRepository();
    const from = repository.head();
    const to = commitWith(repository, [
      { name: "a", content: "12345" },
      { name: "d/b", content: "123" },
    ]);
    expect(await refuseStep(repository.git, { from, to }, limits)).toEqual({ ok: true, value: 8 });
  });

  test("a tree of more paths than the limit: refused", async () => {
    const repository = sampleRepository();
    const entries = Array.from({ length: 9 }, (_, index) => ({ name: `d/${index}` }));
    const commit = commitWith(repository, entries);
    expect(await refuseTreeSize(repository.git, commit, limits)).toMatchObject({
      error: {
        code: "import-refused",
        message: "The imported tree has more than 8 paths, which is the limit.",
      },
    });
    expect(await refuseTreeSize(repository.git, commit)).toEqual({ ok: true, value: undefined });
  });

  test("a tree of a hundred million paths in a few objects: the walk stops at the limit", async () => {
    const repository = sampleRepository();
    const git = (args: readonly string[], input: string): string =>
      execFileSync("git", args, {
        cwd: repository.topLevel,
        input,
        encoding: "utf8",
        env: { PATH: repository.env.path, HOME: repository.home },
      }).trim();
    let tree = repository.run(["rev-parse", "HEAD^{tree}"]);
    for (let level = 0; level < 8; level += 1)
      tree = git(
        ["mktree"],
        Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\t${index}`).join("\n"),
      );
    const commit = repository.run(["commit-tree", tree, "-m", "bomb"]);
    expect(await refuseTreeSize(repository.git, commit)).toMatchObject({
      error: {
        message: `The imported tree has more than ${LIMITS.treePaths} paths, which is the limit.`,
      },
    });
  });
});
