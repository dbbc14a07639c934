import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RunSpec } from "../../src/core/run-spec.ts";
import { readOutbox } from "../../src/run/artifacts/outbox.ts";
import { check } from "../../src/run/stages/collect.ts";

// The same things end a whole run in test/scenarios/hostile-artifacts.test.ts; here is every one of them.

const BASE = "1".repeat(40);
const TREE = "2".repeat(40);

const MANIFEST = {
  version: 1,
  base: BASE,
  patches: [
    {
      file: "0001-do.patch",
      commit: "3".repeat(40),
      tree: TREE,
      author: { name: "A", email: "a@example.com", date: "1 +0000" },
      message: "Do T1\n",
    },
  ],
  finalTree: TREE,
  history: { kind: "linear" },
  committedLeftovers: true,
  ignoredLeftBehind: { total: 0, names: [] },
  agent: { outcome: "exited", exitCode: 0, signal: null },
  versions: { guest: "1", node: "22", git: "2" },
};

/** An outbox as a guest leaves it, in a directory with a secret beside it. */
function outbox(): string {
  const root = mkdtempSync(join(tmpdir(), "guardloop-outbox-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, "outbox");
  mkdirSync(join(directory, "patches"), { recursive: true });
  writeFileSync(join(root, "secret"), "TOPSECRET\n");
  writeFileSync(join(directory, "selected-task-id.txt"), "T1\n");
  writeFileSync(join(directory, "last-commit-message.txt"), "Do T1\n");
  writeFileSync(join(directory, "patches/0001-do.patch"), "From x\n");
  writeFileSync(join(directory, "manifest.json"), JSON.stringify(MANIFEST));
  return directory;
}

function shell(directory: string, script: string, name = ""): void {
  execFileSync("sh", ["-ec", script, "sh", name], { cwd: directory, stdio: "inherit" });
}

const SPEC = {
  base: BASE,
  offered: ["T1", "T2"].map((id) => ({ id, title: "", acceptance: [], file: "", line: 1 })),
  agent: { argv: ["x"] },
  // Only what the check reads.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
} as unknown as RunSpec;

/** Why the outbox is refused: the code and the sentence; undefined when it is taken. */
async function refusal(directory: string): Promise<string | undefined> {
  const read = await readOutbox(directory);
  const checked = read.ok ? check(read.value, SPEC) : read;
  return checked.ok ? undefined : `${checked.error.code}: ${checked.error.message}`;
}

test("what a guest leaves is taken", async () => {
  expect(await refusal(outbox())).toBeUndefined();
});

/** Ways to put something else than a file in the place of the file `$1`. */
const KINDS = {
  "a symbolic link": ["ln -s ../secret", "is not a regular file"],
  "a dangling symbolic link": ["ln -s nowhere", "is not a regular file"],
  "a link to a device": ["ln -s /dev/zero", "is not a regular file"],
  "a FIFO": ["mkfifo", "is not a regular file"],
  "a socket": [
    `"${process.execPath}" -e 'require("node:net").createServer().listen(process.argv[1], () => process.exit(0))'`,
    "is not a regular file",
  ],
  "a directory": ["mkdir", "is not a regular file"],
  "a hard link": ["ln ../secret", "has more than one hard link"],
  "a sparse terabyte": ["truncate -s 1T", "is larger than \\d+ bytes"],
} as const;

describe.each([
  ["selected-task-id.txt", "bad-task-id"],
  ["last-commit-message.txt", "bad-commit-message"],
  ["manifest.json", "bad-manifest"],
  ["patches/0001-do.patch", "bad-patches"],
])("in the place of %s", (artifact, code) => {
  test.each(Object.entries(KINDS))("%s is refused by name", async (_, [make, says]) => {
    const directory = outbox();
    const command = `${make} "$1"`;
    shell(directory, `rm "$1"\n${command}`, artifact);
    const expected = new RegExp(`^${code}: The artifact ${artifact} ${says}\\.$`);
    expect(await refusal(directory)).toMatch(expected);
  });
});

test.each(Object.entries(KINDS).filter(([kind]) => kind !== "a directory"))(
  "%s in the place of patches is refused",
  async (_, [make]) => {
    const directory = outbox();
    const command = `${make} "$1"`;
    shell(directory, `mv "$1" ../patches-moved\n${command}`, "patches");
    expect(await refusal(directory)).toBe("bad-patches: The artifact patches is not a directory.");
  },
);

test("a link to a real directory of patches is not entered", async () => {
  const directory = outbox();
  shell(directory, "mv patches ../moved && ln -s ../moved patches");
  expect(await refusal(directory)).toBe("bad-patches: The artifact patches is not a directory.");
});

test("an outbox that is a link itself is not entered", async () => {
  const directory = outbox();
  shell(directory, 'mv "$PWD" "$PWD-moved" && ln -s "$PWD-moved" "$PWD"');
  expect(await refusal(directory)).toMatch(/^bad-patches: .* is not a directory any more\.$/);
});

describe("names and numbers of patches", () => {
  test.each([
    [
      "a thousand and two",
      'for i in $(seq 2 1002); do : > "$(printf %04d $i)-x.patch"; done',
      "holds more than 1001 files",
    ],
    ["a gap", "mv 0001-do.patch 0002-do.patch", "\\(at 0002-do.patch\\)"],
    ["a number twice", "cp 0001-do.patch 0001-zz.patch", "\\(at 0001-zz.patch\\)"],
    ["a number twice, wider", "cp 0001-do.patch 00001-zz.patch", "each once"],
    ["the number nought", "mv 0001-do.patch 0000-do.patch", "\\(at 0000-do.patch\\)"],
    ["no number", "mv 0001-do.patch x.patch", 'holds "x.patch", which is not named like'],
    ["a short number", "mv 0001-do.patch 1-do.patch", "is not named like"],
    ["an option", "mv 0001-do.patch ./--output=x.patch", "is not named like"],
    ["a line feed", 'mv 0001-do.patch "0001-a\nb.patch"', "is not named like"],
    ["an escape", 'mv 0001-do.patch "$(printf "0001-\\033[31m.patch")"', "is not named like"],
    ["bytes", 'mv 0001-do.patch "$(printf "0001-\\377.patch")"', "is not named like"],
    [
      "a name of 200 letters",
      'mv 0001-do.patch "0001-$(printf %0200d).patch"',
      "is not named like",
    ],
    ["a file beside", ": > README", 'holds "README"'],
    ["a directory beside", "mkdir -p a/b/c", 'holds "a"'],
  ])("%s: refused", async (_, script, says) => {
    const directory = outbox();
    shell(join(directory, "patches"), script);
    expect(await refusal(directory)).toMatch(new RegExp(`^bad-patches: .*${says}`));
  });

  test("numbers above 9999 are numbers", async () => {
    const directory = outbox();
    shell(join(directory, "patches"), "mv 0001-do.patch 000001-do.patch");
    expect(await refusal(directory)).toMatch(/^bad-manifest: .*does not list the patches/);
  });
});

describe("the task id", () => {
  test.each([
    ["a path", "../../T1"],
    ["a ref", "refs/heads/main"],
    ["an option", "--upload-pack=x"],
    ["two lines", "T1\nT2"],
    ["two line ends", "T1\n\n"],
    ["a blank before", " T1"],
    ["a blank after", "T1 "],
    ["nothing", ""],
    ["a letter that only looks like T", "\u04221"],
    ["a full-width digit", "T\uFF11"],
    ["a zero-width space", "T1\u200B"],
    ["a NUL", "T1\0"],
    ["an escape sequence", "T1\u001B[2J"],
    ["bytes that are not UTF-8", Buffer.from([0x54, 0x31, 0xff])],
    ["a task that is not offered", "T3"],
    ["other case", "t1"],
    ["a name every object has", "constructor"],
  ])("%s: refused", async (_, id) => {
    const directory = outbox();
    writeFileSync(join(directory, "selected-task-id.txt"), id);
    expect(await refusal(directory)).toMatch(
      /^bad-task-id: selected-task-id\.txt says .*; offered were T1, T2\.$/s,
    );
  });

  test.each([
    ["a Windows line end", "T1\r\n"],
    ["no line end", "T1"],
    ["a byte order mark", "\uFEFFT1\n"],
  ])("%s is an editor's habit: the id is exactly the offered one", async (_, id) => {
    const directory = outbox();
    writeFileSync(join(directory, "selected-task-id.txt"), id);
    const read = await readOutbox(directory);
    expect(read.ok && check(read.value, SPEC)).toMatchObject({ ok: true, value: { taskId: "T1" } });
  });
});

describe("the commit message", () => {
  test.each([
    ["a NUL byte", "Do\0 T1", "holds a NUL byte"],
    ["bytes that are not UTF-8", Buffer.from([0x44, 0xff]), "is not UTF-8"],
    ["UTF-16", Buffer.from("Do T1", "utf16le"), "holds a NUL byte"],
    ["blanks alone", " \n\t\n", "is empty"],
    ["a byte order mark alone", "\uFEFF", "is empty"],
    ["more than 64 KiB", "x".repeat(65_537), "is larger than 65536 bytes"],
  ])("%s: refused", async (_, text, says) => {
    const directory = outbox();
    writeFileSync(join(directory, "last-commit-message.txt"), text);
    expect(await refusal(directory)).toMatch(new RegExp(`^bad-commit-message: .*${says}`));
  });
});

describe("the manifest", () => {
  const [patch] = MANIFEST.patches;
  test.each([
    ["not JSON", "<html>", "is not JSON"],
    ["not UTF-8", Buffer.from([0xff, 0xfe]), "is not JSON"],
    ["nested without end", "[".repeat(4_000_000), "is not JSON"],
    ["nested deep", `${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}`, "manifest.json is not"],
    ["too large", " ".repeat(9 * 2 ** 20), "is larger than"],
    ["a number", "7", "is not as agreed"],
    ["of another version", { version: 2 }, "at version"],
    ["with its prototype replaced", '{"__proto__":{"version":1}}', "at version"],
    ["about another base", { base: "4".repeat(40) }, "another base commit"],
    ["with a base that is no id", { base: "HEAD" }, "at base"],
    ["with one patch less", { patches: [] }, "does not list the patches"],
    ["with a patch twice", { patches: [patch, patch] }, "does not list the patches"],
    ["with a file elsewhere", { patches: [{ ...patch, file: "../secret" }] }, "does not list"],
    ["with a tree that is no id", { patches: [{ ...patch, tree: "--help" }] }, "patches.0.tree"],
    ["with a long author", withAuthor({ name: "x".repeat(2000) }), "patches.0.author.name"],
    ["with a date that is none", withAuthor({ date: "now" }), "patches.0.author.date"],
    ["with too many patches", { patches: Array(1002).fill(patch) }, "at patches"],
    ["with endless leftovers", leftovers(2000), "at ignoredLeftBehind.names"],
    ["with half a patch", { patches: [{ file: "0001-do.patch" }] }, "at patches.0"],
  ])("%s: refused", async (_, change, says) => {
    const directory = outbox();
    const text =
      typeof change === "string" || Buffer.isBuffer(change)
        ? change
        : JSON.stringify({ ...MANIFEST, ...change });
    writeFileSync(join(directory, "manifest.json"), text);
    expect(await refusal(directory)).toMatch(new RegExp(`^bad-manifest: .*${says}`));
  });
});

function withAuthor(change: object) {
  const [patch] = MANIFEST.patches;
  return { patches: [{ ...patch, author: { ...patch?.author, ...change } }] };
}

function leftovers(total: number) {
  return { ignoredLeftBehind: { total, names: Array(total).fill("x") } };
}
