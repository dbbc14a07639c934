import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseCommit } from "../../src/guest/commit-object.ts";
import { anchoredPattern } from "../../src/guest/exclude.ts";
import { mailSafeMessage, slugOf } from "../../src/guest/mail-safe.ts";
import { nulSeparated } from "../../src/guest/nul-separated.ts";
import { visible } from "../../src/guest/say.ts";

test("a plain message travels as it is, any other is indented", () => {
  const plain = "Add four\n\nBecause three is not enough.\n\n- one\n- two\n\nFixes: #3\n";
  expect(mailSafeMessage(plain)).toBe(plain);
  expect(mailSafeMessage("[core] fix\nmore\n\n---\nbelow  \n\n\n\nend")).toBe(
    "(core) fix\n\n    more\n\n    ---\n    below\n\n    end\n",
  );
  expect(mailSafeMessage("Re: x\r\n\r\nbody\u001b[0m\n")).toBe("Re - x\n\n    body?[0m\n");
  expect(mailSafeMessage(" \n\n")).toBe("(no message)\n");
});

test("a mail-safe message is its own mail-safe form or indented, whatever comes in", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (message) => {
      const safe = mailSafeMessage(message);
      const [subject = "", ...body] = safe.split("\n");
      expect(subject.trim()).not.toBe("");
      expect(safe.endsWith("\n")).toBe(true);
      expect(body.some((line) => /^(?:diff |---|From |Index: )/.test(line))).toBe(false);
    }),
  );
});

test.each([
  ["Add four", "Add-four"],
  ["../../etc/passwd", "etc-passwd"],
  ["Füge hinzu: 日本", "Fuge-hinzu"],
  ["日本語", "change"],
  ["", "change"],
  [`${"x".repeat(80)}\nbody`, "x".repeat(52)],
])("the subject %j gives the file name part %s", (subject, slug) => {
  expect(slugOf(subject)).toBe(slug);
});

test("an overlay path becomes a pattern that matches it alone", () => {
  expect(anchoredPattern(".env")).toBe("/.env\n");
  expect(anchoredPattern("a[b]/c*?\\ d  ")).toBe("/a\\[b\\]/c\\*\\?\\\\ d\\ \\ \n");
  expect(anchoredPattern("new\nline")).toBeUndefined();
});

test("records cut anywhere come out whole", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme-ascii" })), fc.nat(9), (records, size) => {
      const seen: string[] = [];
      const read = nulSeparated((record) => seen.push(record));
      const all = Buffer.from(records.map((record) => `${record}\0`).join(""));
      for (let at = 0; at < all.length; at += size + 1) read(all.subarray(at, at + size + 1));
      expect(seen).toEqual(records);
    }),
  );
});

function commit(author: string, message = "X\n"): Buffer {
  const headers = `tree ${"1".repeat(40)}\nauthor ${author}\ncommitter C <c@x> 1 +0000`;
  return Buffer.from(`${headers}\n\n${message}`);
}

test("a commit whose author line is odd is not taken for exact", () => {
  expect(parseCommit(commit("A B <a@x> 12 +0100"))?.author).toEqual({
    name: "A B",
    email: "a@x",
    date: "12 +0100",
  });
  expect(parseCommit(commit("A <a@x> yesterday"))).toBeUndefined();
  expect(parseCommit(commit("A <a@x> 1 +0000", "with\0nul\n"))).toBeUndefined();
  expect(parseCommit(commit("A <a@x> 1 +0000", "x".repeat(70_000)))).toBeUndefined();
});

test("what the guest prints shows control and bidirectional characters", () => {
  expect(visible("a\u001b[31m\u202eb\n")).toBe("a\\u{1b}[31m\\u{202e}b\\u{a}");
});
