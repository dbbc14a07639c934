import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

const DIGITS =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/** A `GIT binary patch` that adds a file, as git-diff(1) writes it: small where the content repeats itself. */
export function addsBinary(path: string, content: Buffer): string {
  const blob = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
  return `diff --git a/${path} b/${path}
new file mode 100644
index ${"0".repeat(40)}..${blob}
GIT binary patch
literal ${content.length}
${base85(deflateSync(content))}
literal 0
HcmV?d00001

`;
}

/** Lines of at most 52 bytes, each with a letter for its length. */
function base85(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 52) {
    const line = bytes.subarray(at, at + 52);
    text += line.length <= 26 ? String.fromCharCode(64 + line.length) : lower(line.length);
    const padded = Buffer.alloc(Math.ceil(line.length / 4) * 4);
    line.copy(padded);
    for (let word = 0; word < padded.length; word += 4)
      text += fiveDigits(padded.readUInt32BE(word));
    text += "\n";
  }
  return text;
}

function lower(length: number): string {
  return String.fromCharCode(96 + length - 26);
}

function fiveDigits(word: number): string {
  let rest = word;
  let digits = "";
  for (let index = 0; index < 5; index += 1) {
    digits = `${DIGITS[rest % 85]}${digits}`;
    rest = Math.floor(rest / 85);
  }
  return digits;
}

/** A mail of git format-patch with this diff. */
export function mailWith(diff: string): string {
  return `From ${"0".repeat(40)} Mon Sep 17 00:00:00 2001
From: Mallory <mallory@example.com>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: Do T1

Do T1
---

${diff}`;
}
