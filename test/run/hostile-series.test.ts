import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { git, makeStage, type Stage } from "../guest/rig.ts";
import { receive } from "../rig/host-stages.ts";

// Series of mails that apply, but perhaps not to what the container says; through the host's own stages.

const LETTERS = "a\nb\nc\nd\n";

function stageOf(text: string): Stage {
  return makeStage({ files: { "a.txt": text } });
}

/** The tree that the container claims: the base with a.txt, and more files, as given. */
function claim(stage: Stage, files: Readonly<Record<string, string>>): string {
  const index = { GIT_INDEX_FILE: join(stage.directory, "claim.index") };
  git(stage.user, ["read-tree", stage.base], "", index);
  for (const [path, text] of Object.entries(files)) {
    const id = git(stage.user, ["hash-object", "-w", "--stdin"], text);
    git(stage.user, ["update-index", "--add", "--cacheinfo", `100644,${id},${path}`], "", index);
  }
  return git(stage.user, ["write-tree"], "", index);
}

interface Mail {
  readonly name?: string;
  readonly headers?: string;
  readonly diff: string;
  readonly tree: string;
}

/** Leaves the mails and a manifest that agrees with them; says how the import ended, and what came of it. */
async function imported(stage: Stage, mails: readonly Mail[]) {
  const outbox = mkdtempSync(join(stage.directory, "outbox-"));
  mkdirSync(join(outbox, "patches"));
  const named = mails.map((mail, index) => ({
    name: `${String(index + 1).padStart(4, "0")}-x.patch`,
    ...mail,
  }));
  for (const { name, headers = DATE, diff } of named)
    writeFileSync(
      join(outbox, "patches", name),
      `From ${"0".repeat(40)} Mon Sep 17 00:00:00 2001\nFrom: M <m@example.com>\n${headers}Subject: Do it\n\n---\n\n${diff}`,
    );
  const author = { name: "Ada", email: "ada@example.com", date: "1700000000 +0100" };
  const manifest = {
    version: 1,
    base: stage.base,
    patches: named.map(({ name, tree }) => ({
      file: name,
      commit: stage.base,
      tree,
      author,
      message: "Do it\n",
    })),
    finalTree: named.at(-1)?.tree,
    history: { kind: "linear" },
    committedLeftovers: false,
    ignoredLeftBehind: { total: 0, names: [] },
    agent: { outcome: "exited", exitCode: 0, signal: null },
    versions: { guest: "1", node: "22", git: "2" },
  };
  writeFileSync(join(outbox, "manifest.json"), JSON.stringify(manifest));
  writeFileSync(join(outbox, "selected-task-id.txt"), "T-1\n");
  writeFileSync(join(outbox, "last-commit-message.txt"), "Do it\n");
  const stateDir = mkdtempSync(join(stage.directory, "state-"));
  const received = await receive({ topLevel: stage.user, outbox, base: stage.base, stateDir });
  if (received.ok) return { ending: "imported", branch: received.value.imported.branch };
  return { ending: `${received.error.code}: ${received.error.message}`, branch: "" };
}

const DATE = "Date: Thu, 1 Jan 2026 00:00:00 +0000\n";

function edits(hunk: string, index = `index ${"0".repeat(40)}..${"1".repeat(40)} 100644`): string {
  return `diff --git a/a.txt b/a.txt\n${index}\n--- a/a.txt\n+++ b/a.txt\n${hunk}`;
}

describe("a hunk that Git would put elsewhere", () => {
  test("C8 the same lines further down: refused, unless the trees agree", async () => {
    const stage = stageOf(LETTERS.repeat(3));
    const meant = claim(stage, { "a.txt": `a\nB\nc\nd\n${LETTERS.repeat(2)}` });
    const got = claim(stage, { "a.txt": `${LETTERS.repeat(2)}a\nB\nc\nd\n` });
    const diff = edits("@@ -9,3 +9,3 @@\n a\n-b\n+B\n c\n");
    expect((await imported(stage, [{ diff, tree: meant }])).ending).toMatch(
      /^import-mismatch: .*gives the tree/,
    );
    expect((await imported(stage, [{ diff, tree: got }])).ending).toBe("imported");
  });

  test("C8 an insertion without context beyond the end: refused, or what the tree says", async () => {
    const stage = stageOf(LETTERS);
    const diff = edits("@@ -100,0 +100 @@\n+x\n");
    const meant = claim(stage, { "a.txt": `a\nb\nx\nc\nd\n` });
    expect((await imported(stage, [{ diff, tree: meant }])).ending).toMatch(
      /^import-(?:mismatch|refused): /,
    );
  });
});

test("C8 an old path without its prefix stays inside the tree, and counts only as the tree says", async () => {
  const stage = stageOf(LETTERS);
  const diff = "--- /dev/null\n+++ /etc/evil\n@@ -0,0 +1 @@\n+x\n";
  const meant = claim(stage, { "a.txt": "other\n" });
  expect((await imported(stage, [{ diff, tree: meant }])).ending).toMatch(
    /^import-(?:mismatch|refused): /,
  );
});

test("62 a mail without a date: the author's date is the manifest's", async () => {
  const stage = stageOf(LETTERS);
  const tree = claim(stage, { "a.txt": "a\nB\nc\nd\n" });
  const diff = edits("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  const { ending, branch } = await imported(stage, [{ headers: "", diff, tree }]);
  expect(ending).toBe("imported");
  expect(git(stage.user, ["log", "-1", "--format=%an %ad", "--date=raw", branch])).toBe(
    "Ada 1700000000 +0100",
  );
});

test("132 numbers of different width are in the order of the numbers", async () => {
  const stage = stageOf(LETTERS);
  const mails = Array.from({ length: 12 }, (_, index) => {
    const number = index + 1;
    const before = index === 0 ? "d" : String(index);
    return {
      // By their letters alone, 00010 comes before 0002.
      name: `000${number}-x.patch`,
      diff: edits(`@@ -2,3 +2,3 @@\n b\n c\n-${before}\n+${number}\n`),
      tree: claim(stage, { "a.txt": `a\nb\nc\n${number}\n` }),
    };
  });
  const { ending, branch } = await imported(stage, mails);
  expect(ending).toBe("imported");
  expect(git(stage.user, ["show", `${branch}:a.txt`])).toBe("a\nb\nc\n12");
});

test("142 a forged index line changes nothing: the content and the tree count", async () => {
  const stage = stageOf(LETTERS);
  const hunk = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
  const forged = edits(hunk, `index ${"a".repeat(40)}..${"b".repeat(40)} 100644`);
  const tree = claim(stage, { "a.txt": "a\nB\nc\nd\n" });
  expect((await imported(stage, [{ diff: forged, tree }])).ending).toBe("imported");
  const other = claim(stage, { "a.txt": "a\nEVIL\nc\nd\n" });
  expect((await imported(stage, [{ diff: forged, tree: other }])).ending).toMatch(
    /^import-mismatch: /,
  );
});

test("E59 a subject that decodes to escape sequences is not looked at", async () => {
  const stage = stageOf(LETTERS);
  const tree = claim(stage, { "a.txt": "a\nB\nc\nd\n" });
  const headers = `${DATE}Subject: =?UTF-8?q?=1b]0;evil=07?=\n`;
  const diff = edits("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  const { ending, branch } = await imported(stage, [{ headers, diff, tree }]);
  expect(ending).toBe("imported");
  expect(git(stage.user, ["log", "-1", "--format=%s", branch])).toBe("Do it");
});

test("149 C9 a patch of more than 64 MiB is refused before it is read", async () => {
  const stage = stageOf(LETTERS);
  mkdirSync(join(stage.artifacts, "patches"));
  const patch = join(stage.artifacts, "patches/0001-x.patch");
  writeFileSync(patch, "From x\n");
  truncateSync(patch, 64 * 1024 * 1024 + 1);
  const side = {
    topLevel: stage.user,
    outbox: stage.artifacts,
    base: stage.base,
    stateDir: stage.directory,
  };
  const received = await receive(side);
  expect(received.ok ? "" : received.error.message).toBe(
    "The artifact patches/0001-x.patch is larger than 67108864 bytes.",
  );
  rmSync(patch);
});
