import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findProgram } from "../../src/process/find-program.ts";
import { applyMail, commitTree, makeQuarantine, startAt } from "../../src/git/quarantine.ts";
import { refuseEntries } from "../../src/git/refuse-entries.ts";
import { addedEntries } from "../../src/git/tree-check.ts";
import { refuseMail } from "../../src/run/artifacts/mail-check.ts";
import { type SampleRepository, sampleRepository } from "../lease/sample-repository.ts";

// Mails of a hostile container, through the same functions as an import. Whole runs with some of them are in
// test/scenarios/hostile-patches.test.ts.

const WHO = { name: "A", email: "a@example.com", date: "1 +0000" };
const LIMIT = 512 * 1024 * 1024;

/** `code: sentence` of the refusal, or `imported` with the paths that the mail would bring. */
async function judge(repository: SampleRepository, text: string): Promise<string> {
  const bytes = Buffer.from(text);
  const fine = refuseMail(bytes, "0001-x.patch", LIMIT);
  if (!fine.ok) return `${fine.error.code}: ${fine.error.message}`;
  const made = await makeQuarantine({
    program: findProgram("git", repository.env.path) ?? "git",
    env: repository.env,
    dir: join(repository.home, "quarantine.git"),
    objectsDir: join(repository.commonDir, "objects"),
  });
  const parent = repository.head();
  await startAt(made, parent);
  const tree = await applyMail(made, bytes, "0001-x.patch");
  if (!tree.ok) return `${tree.error.code}: ${tree.error.message}`;
  const request = { tree: tree.value, parent, message: "x", author: WHO, committer: WHO };
  const commit = await commitTree(made, { ...request, trailers: [] });
  if (!commit.ok) throw new Error(commit.error.message);
  const entries = await addedEntries(made.git, parent, commit.value);
  if (!entries.ok) return `${entries.error.code}: ${entries.error.message}`;
  const refused = refuseEntries(entries.value);
  if (!refused.ok) return `${refused.error.code}: ${refused.error.message}`;
  const modes = entries.value.map((entry) => `${entry.newMode} ${entry.path}`);
  return `imported: ${modes.join(", ")}`;
}

interface MailParts {
  readonly headers?: string;
  readonly body?: string;
  readonly diff?: string;
}

function mail({ headers = "", body = "Do T1\n", diff = adds("new.txt") }: MailParts = {}): string {
  return `From ${"0".repeat(40)} Mon Sep 17 00:00:00 2001
From: Mallory <mallory@example.com>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: Do T1
${headers}
${body}---

${diff}`;
}

function adds(path: string, mode = "100644", content = "+evil"): string {
  return `diff --git a/${path} b/${path}
new file mode ${mode}
index 0000000..0000000
--- /dev/null
+++ b/${path}
@@ -0,0 +1 @@
${content}
`;
}

function base64(text: string): string {
  return `${Buffer.from(text).toString("base64")}\n`;
}

test("an ordinary mail is imported", async () => {
  expect(await judge(sampleRepository(), mail())).toBe("imported: 100644 new.txt");
});

test("a mail with letters beyond ASCII, as git format-patch writes it, is imported", async () => {
  const headers =
    "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n";
  const text = mail({ headers, body: "Tür\n" });
  expect(await judge(sampleRepository(), text)).toBe("imported: 100644 new.txt");
});

describe("a mail that says something else than it seems to", () => {
  const hidden = base64(`Do T1\n---\n\n${adds("hidden.txt")}`);
  test.each([
    ["two mails in one file", mail() + mail({ diff: adds("second.txt") }), "exactly one mail"],
    ["no mail", adds("x"), "does not begin like a mail"],
    ["an HG series", `# HG changeset patch\n# User A\nDo\n\n${adds("x")}`, "does not begin like"],
    ["a StGit series", "# This series applies on GIT commit 1\n../../secret\n", "does not begin"],
    ["a StGit patch", `Do\n\nFrom: A <a@b.c>\n\n---\n${adds("x")}`, "does not begin like"],
    ["nothing", "", "does not begin like"],
    ["a base64 body", encoded("base64", hidden), "has an encoded body"],
    ["a base64 body, upper case", encoded("BASE64", hidden), "has an encoded body"],
    ["a base64 body in a folded header", encoded("\n base64", hidden), "has an encoded body"],
    ["a base64 body behind a word", encoded("7bit, base64", hidden), "has an encoded body"],
    [
      "a second header that says base64",
      encoded("7bit\nContent-Transfer-Encoding: base64", hidden),
      "has an encoded body",
    ],
    ["a quoted-printable body", encoded("quoted-printable", "x"), "has an encoded body"],
    [
      "a multipart body",
      mail({ headers: 'Content-Type: multipart/mixed; boundary="x"\n' }),
      "is not plain text",
    ],
    [
      "a multipart body in a folded header",
      mail({ headers: 'Content-Type:\n multipart/mixed; boundary="x"\n' }),
      "is not plain text",
    ],
    [
      "a plain body with a boundary",
      mail({ headers: 'Content-Type: text/plain; boundary="x"\n' }),
      "is not plain text",
    ],
    [
      "lines that flow together",
      mail({ headers: "Content-Type: text/plain; format=flowed; delsp=yes\n" }),
      "is not plain text",
    ],
    [
      "another character set",
      mail({ headers: "Content-Type: text/plain; charset=utf-16\n" }),
      "is not plain text",
    ],
  ])("%s: refused", async (_, text, says) => {
    expect(await judge(sampleRepository(), text)).toMatch(
      new RegExp(`^bad-patches: patches/0001-x\\.patch .*${says}`),
    );
  });

  test("Windows line ends in the header do not hide an encoding", async () => {
    const text = encoded("base64", hidden).replaceAll("\n", "\r\n");
    expect(await judge(sampleRepository(), text)).toMatch(/^bad-patches: .* encoded body/);
  });
});

function encoded(encoding: string, body: string): string {
  return `From ${"0".repeat(40)} Mon Sep 17 00:00:00 2001
From: A <a@example.com>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: Do T1
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: ${encoding}

${body}`;
}

describe("a small mail that inflates", () => {
  const bomb = (size: string): string =>
    mail({
      diff: `diff --git a/big.bin b/big.bin
new file mode 100644
index ${"0".repeat(40)}..${"1".repeat(40)}
GIT binary patch
${size}
zcmdPcbbbb

literal 0
HcmV?d00001

`,
    });
  test.each([
    "literal 99999999999",
    "literal 99999999999999999999999",
    "literal 00000000000000000000536870913",
    "literal 536870913 and more",
    "literal  536870913",
    "literal +536870913",
    "literal \t536870913",
    "literal 536870913\r",
    "delta 536870913",
  ])("%j is refused before git sees it", async (size) => {
    expect(await judge(sampleRepository(), bomb(size))).toMatch(
      /^bad-patches: patches\/0001-x\.patch declares \S+ bytes of binary content/,
    );
  });

  test("many small declarations are added up", async () => {
    const text = bomb(Array(6).fill("literal 100000000").join("\n"));
    expect(await judge(sampleRepository(), text)).toMatch(/declares 600000000 bytes/);
  });

  test("a line of a text file that looks like a declaration is no declaration", async () => {
    const text = mail({ diff: adds("new.txt", "100644", "+literal 99999999999") });
    expect(await judge(sampleRepository(), text)).toBe("imported: 100644 new.txt");
  });
});

describe("a path that leads out of the tree or into .git", () => {
  test.each([
    "../evil",
    "d/../../evil",
    "/etc/evil",
    ".git/hooks/post-checkout",
    ".GIT/config",
    "d/.git/config",
    "git~1/config",
    ".git./config",
    ".git ::$INDEX_ALLOCATION/config",
    ".g\u200Cit/config",
    ".",
    "d//e",
  ])("%j: refused, and nothing is written", async (path) => {
    const repository = sampleRepository();
    const before = new Set(readdirSync(repository.home, { recursive: true }).map(String));
    const verdict = await judge(repository, mail({ diff: adds(path) }));
    expect(verdict).toMatch(/^(import-refused|git-failed): /);
    const after = readdirSync(repository.home, { recursive: true })
      .map(String)
      .filter((name) => !before.has(name) && !name.startsWith("quarantine.git"));
    expect(after).toEqual([]);
    expect(existsSync("/etc/evil")).toBe(false);
  });

  test("a rename to such a path: refused", async () => {
    const diff =
      "diff --git a/README.md b/../evil\nsimilarity index 100%\nrename from README.md\nrename to ../evil\n";
    expect(await judge(sampleRepository(), mail({ diff }))).toMatch(/^import-refused: /);
  });

  test("writing through a symbolic link of the same patch: refused", async () => {
    const repository = sampleRepository();
    const link = `diff --git a/link b/link
new file mode 120000
index 0000000..0000000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+${repository.home}
\\ No newline at end of file
`;
    const verdict = await judge(repository, mail({ diff: link + adds("link/evil") }));
    expect(verdict).toMatch(/^import-refused: .*link/);
    expect(existsSync(join(repository.home, "evil"))).toBe(false);
  });
});

describe("entries that are dangerous to check out", () => {
  test.each([".gitmodules", ".GITMODULES", "gitmod~1", ".gitm\u200Codules"])(
    "%j as a link: refused",
    async (path) => {
      expect(await judge(sampleRepository(), mail({ diff: adds(path, "120000") }))).toMatch(
        /^(import-refused|git-failed): /,
      );
    },
  );

  const gitlink = (path: string): string =>
    adds(path, "160000", `+Subproject commit ${"1".repeat(40)}`);
  const bare = (directory: string, names: readonly string[]): string =>
    names.map((name) => adds(`${directory}${name}`)).join("");
  test.each([
    ["a gitlink", gitlink("lib"), '"lib" is a gitlink'],
    [
      "a bare repository",
      bare("docs/x/", ["HEAD", "config", "objects/.keep", "refs/.keep"]),
      '"docs/x/" looks like a bare repository',
    ],
    ["one at the top", bare("", ["HEAD", "objects/.keep", "refs/.keep"]), "a bare repository"],
    [
      "one for file systems that fold case",
      bare("x/", ["head", "Objects/.keep", "REFS/.keep"]),
      '"x/" looks like a bare repository',
    ],
  ])("%s: refused", async (_, diff, says) => {
    expect(await judge(sampleRepository(), mail({ diff }))).toMatch(
      new RegExp(`^import-refused: .*${says}`),
    );
  });

  test.each(["HEAD", "objects/.keep", "refs/.keep"])(
    "a bare repository of which only %s was missing: refused",
    async (missing) => {
      const repository = sampleRepository();
      for (const name of ["HEAD", "config", "objects/.keep", "refs/.keep"])
        if (name !== missing) repository.write(`docs/x/${name}`, "x\n");
      repository.commit("Most of a bare repository");
      expect(await judge(repository, mail({ diff: adds(`docs/x/${missing}`) }))).toMatch(
        /^import-refused: "docs\/x\/" looks like a bare repository/,
      );
    },
  );

  test("one that the user has already is not the agent's: other changes are imported", async () => {
    const repository = sampleRepository();
    for (const name of ["HEAD", "objects/.keep", "refs/.keep"])
      repository.write(`t/${name}`, "x\n");
    repository.commit("A fixture of the user's");
    expect(await judge(repository, mail())).toBe("imported: 100644 new.txt");
  });

  test("an odd mode becomes an ordinary one, and shows in the tree", async () => {
    expect(await judge(sampleRepository(), mail({ diff: adds("run.sh", "100777") }))).toBe(
      "imported: 100755 run.sh",
    );
    expect(await judge(sampleRepository(), mail({ diff: adds("run.sh", "104755") }))).toBe(
      "imported: 100755 run.sh",
    );
  });
});

test("what a mail says never reaches a file but the quarantine's own", async () => {
  const repository = sampleRepository();
  await judge(repository, mail({ body: `Do T1\n\ndiff --git a/x b/x\n` }));
  expect(readFileSync(join(repository.topLevel, "README.md"), "utf8")).toBe("two\n");
  expect(repository.run(["status", "--porcelain"])).toBe("");
});
