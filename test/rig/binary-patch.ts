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

/**
 * A `GIT binary patch` that changes a file by a delta of some kilobytes: it copies the whole old content, of at most
 * 16 MiB, again and again. What it becomes is declared nowhere but inside of the delta.
 */
export function repeatsContent(path: string, old: Buffer, times: number): string {
  const id = createHash("sha1").update(`blob ${old.length}\0`).update(old).digest("hex");
  const sizeBytes = [0, 8, 16].map((shift) => (old.length >> shift) & 0xff);
  const copy = Buffer.from([0xf0, ...sizeBytes]);
  const delta = Buffer.concat([
    variableLength(old.length),
    variableLength(old.length * times),
    ...Array.from({ length: times }, () => copy),
  ]);
  return `diff --git a/${path} b/${path}
index ${id}..${"1".repeat(40)} 100644
GIT binary patch
delta ${delta.length}
${base85(deflateSync(delta))}
delta 0
HcmV?d00001

`;
}

/** Seven bits a byte, the lowest first. */
function variableLength(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
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
