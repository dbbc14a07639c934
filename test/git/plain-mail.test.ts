import { describe, expect, test } from "vitest";
import { plainFiles } from "../../src/git/plain-files.ts";
import { plainDiffs } from "../../src/git/plain-mail.ts";

// What the import reads and applies by itself. A series that it takes is covered by test/run/long-series.test.ts; these are
// the mails that it leaves to Git.

const IDS = `${"1".repeat(40)}..${"2".repeat(40)}`;
const HEADER = `From ${"0".repeat(40)} Mon Sep 17 00:00:00 2001
From: Ada <ada@example.com>
Date: Mon, 30 Nov 2026 12:18:54 +0000
Subject: Change it

The body.
`;
const DIFF = `diff --git a/a.txt b/a.txt
index ${IDS} 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
+TWO
`;

function read(text: string) {
  return plainDiffs(Buffer.from(text, "latin1"));
}

test("a change of text is read as it is", () => {
  expect(read(`${HEADER}\n${DIFF}\n`)).toEqual([
    {
      path: "a.txt",
      kind: "modified",
      mode: undefined,
      hunks: [{ at: 0, before: ["one\n", "two\n"], after: ["one\n", "TWO\n"] }],
    },
  ]);
});

test("a commit that changes nothing has no sections", () => {
  expect(read(`${HEADER}\n\n`)).toEqual([]);
});

describe("left to Git is a mail", () => {
  const added = `diff --git a/n b/n\nnew file mode 100644\nindex ${IDS}\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n`;
  const mails: Readonly<Record<string, string>> = {
    "that is two": `${HEADER}\n${DIFF}\n${HEADER}\n${DIFF}`,
    "that does not begin as one": `${HEADER}\n${DIFF}`.slice(1),
    "without an end of its header": HEADER.split("\n\n")[0] ?? "",
    "in whose message another one begins": `${HEADER}From x@y Mon Sep 17 00:00:00 2001\n\n${DIFF}`,
    "whose message ends early": `${HEADER}---\nmore of it\n\n${DIFF}`,
    "whose message has the beginning of a diff": `${HEADER}diff -u of something\n\n${DIFF}`,
    "with something behind the diff": `${HEADER}\n${DIFF}-- \n2.39.5\n`,
    "with a NUL": `${HEADER}\n${DIFF.replace("TWO", "T\0O")}`,
    "larger than it is worth": `${HEADER}\n${DIFF.replace("TWO", "x".repeat(1024 * 1024))}`,
    "with a rename": `${HEADER}\ndiff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n`,
    "with two names": `${HEADER}\n${DIFF.replace("b/a.txt\nindex", "b/b.txt\nindex")}`,
    "with another old name": `${HEADER}\n${DIFF.replace("--- a/a.txt", "--- a/b.txt")}`,
    "with another new name": `${HEADER}\n${DIFF.replace("+++ b/a.txt", "+++ /dev/null")}`,
    "with a path that leads elsewhere": `${HEADER}\n${DIFF.replaceAll("a.txt", "../a.txt")}`,
    "without the usual prefixes": `${HEADER}\n${DIFF.replaceAll(/[ab]\/a\.txt/g, "x/a.txt")}`,
    "with binary content": `${HEADER}\ndiff --git a/a b/a\nindex ${IDS} 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n`,
    "that says nothing of a binary file": `${HEADER}\ndiff --git a/a b/a\nindex ${IDS} 100644\nBinary files a/a and b/a differ\n`,
    "with a gitlink": `${HEADER}\n${added.replace("100644", "160000")}`,
    "with an odd mode": `${HEADER}\n${added.replace("100644", "100666")}`,
    "that makes and deletes at once": `${HEADER}\n${added.replace("\nindex", "\ndeleted file mode 100644\nindex")}`,
    "with too few lines": `${HEADER}\n${DIFF.replace("+TWO\n", "")}`,
    "with too many lines": `${HEADER}\n${DIFF}+THREE\n`,
    "with a line of its own kind": `${HEADER}\n${DIFF.replace(" one", "*one")}`,
    "with an empty line for an empty line": `${HEADER}\n${DIFF.replace(" one", "")}`,
    "with names and no lines": `${HEADER}\n${DIFF.split("@@")[0]}`,
    "with shortened ids": `${HEADER}\n${DIFF.replace(IDS, "1111111..2222222")}`,
  };
  test.each(Object.entries(mails))("%s", (_, mail) => {
    expect(read(mail)).toBeUndefined();
  });
});

const FILE = (text: string, mode = "100644") => ({ mode, content: Buffer.from(text) });

function applied(before: Readonly<Record<string, string | undefined>>, diff: string) {
  const files = plainFiles(
    new Map(
      Object.entries(before).map(([path, text]) => [
        path,
        text === undefined ? undefined : FILE(text),
      ]),
    ),
  );
  return files.apply(read(`${HEADER}\n${diff}`) ?? []);
}

test("what was applied has the id that Git gives it", () => {
  const [change] = applied({ "a.txt": "one\ntwo\n" }, DIFF) ?? [];
  expect(change?.blob?.content?.toString()).toBe("one\nTWO\n");
  // printf 'one\nTWO\n' | git hash-object --stdin
  expect(change?.blob?.id).toBe("879de50b9a967adae6ab5fe536d4ef6e0af21bb1");
});

describe("left to Git is a patch", () => {
  const make = (path: string): string =>
    `diff --git a/${path} b/${path}\nnew file mode 100644\nindex ${IDS}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
  const remove = `diff --git a/a.txt b/a.txt\ndeleted file mode 100644\nindex ${IDS}\n--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n`;
  const patches: Readonly<
    Record<string, readonly [Readonly<Record<string, string | undefined>>, string]>
  > = {
    "that fits two lines further down": [{ "a.txt": "x\ny\none\ntwo\n" }, DIFF],
    "with another context": [{ "a.txt": "ONE\ntwo\n" }, DIFF],
    "of a file that ends before": [{ "a.txt": "one\n" }, DIFF],
    "of a file that has no line end there": [{ "a.txt": "one\ntwo" }, DIFF],
    "of a file that is not there": [{ "a.txt": undefined }, DIFF],
    "of a file of which nothing is known": [{}, DIFF],
    "that makes what is there": [{ n: "x\n" }, make("n")],
    "that deletes and leaves something": [{ "a.txt": "one\ntwo\n" }, remove],
    "below a file": [{ n: "a.txt", "n/b": undefined }, make("n/b")],
    "in the place of a directory": [{ n: undefined, "n/b": "x\n" }, make("n")],
    "that makes a file and another below it": [
      { n: undefined, "n/b": undefined },
      make("n") + make("n/b"),
    ],
    "that names one file again and again": [
      { "a.txt": "one\n" },
      `diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n`.repeat(2),
    ],
    "that goes on behind a last line without a line end": [
      { "a.txt": "one" },
      `diff --git a/a.txt b/a.txt\nindex ${IDS} 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+1\n\\ No newline at end of file\n@@ -1,0 +2 @@\n+2\n`,
    ],
  };
  test.each(Object.entries(patches))("%s", (_, [before, diff]) => {
    expect(read(`${HEADER}\n${diff}`)).not.toBeUndefined();
    expect(applied(before, diff)).toBeUndefined();
  });
});

test("what has gone makes room in the same patch", () => {
  const gone = `diff --git a/n b/n\ndeleted file mode 100644\nindex ${IDS}\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`;
  const made = `diff --git a/n/b b/n/b\nnew file mode 100644\nindex ${IDS}\n--- /dev/null\n+++ b/n/b\n@@ -0,0 +1 @@\n+x\n`;
  expect(applied({ n: "x\n", "n/b": undefined }, gone + made)?.map(({ path }) => path)).toEqual([
    "n",
    "n/b",
  ]);
});
