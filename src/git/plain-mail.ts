import { namesIn, plainPath } from "./touched-paths.ts";

/** What a patch says of one file. Text is one character a byte. */
export interface FileDiff {
  readonly path: string;
  /** `added` where there was none, `deleted` where there is none afterwards. */
  readonly kind: "added" | "deleted" | "modified";
  /** The mode that a new file has, or that an old one gets; undefined where it stays. */
  readonly mode: string | undefined;
  readonly hunks: readonly Hunk[];
}

export interface Hunk {
  /** Lines of the old file before it. */
  readonly at: number;
  /** With their line feeds, but for a last line of a file that has none. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A larger one in pieces would take many times its size. */
const MOST_BYTES = 1024 * 1024;

/**
 * Reads a mail as `git format-patch` writes it for text files, where nothing in it is open to two readings: one mail, one
 * beginning of the diff, sections that git-apply(1) takes just as they are, and nothing behind them.
 *
 * @returns undefined for every other mail: Git itself is to be asked what it makes of it.
 */
export function plainDiffs(mail: Buffer): readonly FileDiff[] | undefined {
  if (mail.length > MOST_BYTES) return undefined;
  const text = mail.toString("latin1");
  if (text.includes("\0") || !text.startsWith("From ")) return undefined;
  // Where git-mailsplit(1) could see another mail begin.
  if (text.includes("\nFrom ")) return undefined;
  const body = text.indexOf("\n\n");
  if (body === -1) return undefined;
  const lines = text.slice(body + 1).split(/(?<=\n)/);
  // Where git-mailinfo(1) sees the message end; see patchbreak() in Git's mailinfo.c.
  const first = lines.findIndex((line) => /^(?:diff -|Index: |---)/.test(line));
  if (first === -1) return [];
  const reader = { lines, next: first };
  const diffs: FileDiff[] = [];
  while (reader.next < lines.length && lines[reader.next] !== "\n") {
    const diff = readDiff(reader);
    if (diff === undefined) return undefined;
    diffs.push(diff);
  }
  return lines.slice(reader.next).every((line) => line === "\n") ? diffs : undefined;
}

interface Reader {
  readonly lines: readonly string[];
  next: number;
}

function readDiff(reader: Reader): FileDiff | undefined {
  const line = reader.lines[reader.next] ?? "";
  if (line.length > LONGEST_NAMES || !SAME_NAMES.test(line)) return undefined;
  const path = nameIn(reader, "diff --git ");
  if (path === undefined) return undefined;
  const head = readHead(reader);
  const isNamed = reader.lines[reader.next]?.startsWith("--- ") === true;
  if (head === undefined || !isNamed)
    return head === undefined ? undefined : { path, ...head, hunks: [] };
  const { kind } = head;
  const names = [nameIn(reader, "--- "), nameIn(reader, "+++ ")];
  const expected = [kind === "added" ? NOTHING : path, kind === "deleted" ? NOTHING : path];
  if (names.join("\n") !== expected.join("\n")) return undefined;
  const hunks: Hunk[] = [];
  while (reader.lines[reader.next]?.startsWith("@@ ") === true) {
    const hunk = readHunk(reader);
    if (hunk === undefined) return undefined;
    hunks.push(hunk);
  }
  return hunks.length === 0 ? undefined : { path, ...head, hunks };
}

/** Two paths in quotes. */
const LONGEST_NAMES = 40_000;
const SAME_NAMES = /^diff --git ("?)a\/(.+) \1b\/\2\n$/;
/** `/dev/null` without its first component, as every name is. */
const NOTHING = "dev/null";

/** The one path that a line names; undefined where that is not for sure. */
function nameIn(reader: Reader, prefix: string): string | undefined {
  const line = (reader.lines[reader.next] ?? "").replace(/\n$/, "");
  if (!line.startsWith(prefix)) return undefined;
  reader.next += 1;
  if (line === `${prefix}/dev/null`) return NOTHING;
  const names = namesIn(line);
  const [name = ""] = names;
  return names.length === 1 && /^[ab]\//.test(name) ? plainPath(name) : undefined;
}

/** Modes of files and links, and nothing else. */
const MODE = "(100644|100755|120000)";
const HEADS: readonly (readonly [RegExp, FileDiff["kind"] | "old"])[] = [
  [new RegExp(`^new file mode ${MODE}\n$`), "added"],
  [new RegExp(`^deleted file mode ${MODE}\n$`), "deleted"],
  [new RegExp(`^old mode ${MODE}\n$`), "old"],
  [new RegExp(`^new mode ${MODE}\n$`), "modified"],
];

function readHead(reader: Reader): Pick<FileDiff, "kind" | "mode"> | undefined {
  let kind: FileDiff["kind"] = "modified";
  let mode: string | undefined;
  let seen = "";
  for (; ; reader.next += 1) {
    const line = reader.lines[reader.next] ?? "";
    const [pattern, means] = HEADS.find(([one]) => one.test(line)) ?? [];
    if (pattern === undefined || means === undefined) break;
    seen += ` ${means}`;
    if (means === "old") continue;
    kind = means;
    mode = means === "deleted" ? undefined : pattern.exec(line)?.[1];
  }
  if (!["", " added", " deleted", " old modified"].includes(seen)) return undefined;
  const line = reader.lines[reader.next] ?? "";
  // A section of nothing but a mode has no such line.
  if (!/^index [0-9a-f]{40}\.\.[0-9a-f]{40}(?: \d{6})?\n$/.test(line))
    return seen === " old modified" && !line.startsWith("--- ") ? { kind, mode } : undefined;
  reader.next += 1;
  return { kind, mode };
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@[^\n]*\n$/;

function readHunk(reader: Reader): Hunk | undefined {
  const match = HUNK.exec(reader.lines[reader.next] ?? "");
  if (match === null) return undefined;
  reader.next += 1;
  const [, start, old = "1", now = "1"] = match;
  const before: string[] = [];
  const after: string[] = [];
  while (before.length < Number(old) || after.length < Number(now)) {
    const line = reader.lines[reader.next] ?? "";
    const isLast = reader.lines[reader.next + 1]?.startsWith("\\ ") === true;
    const content = isLast ? line.slice(1, -1) : line.slice(1);
    if (!/^[ +-]/.test(line) || !line.endsWith("\n")) return undefined;
    if (!line.startsWith("+")) before.push(content);
    if (!line.startsWith("-")) after.push(content);
    reader.next += isLast ? 2 : 1;
  }
  if (before.length !== Number(old) || after.length !== Number(now)) return undefined;
  // Of no lines the place is named by the line before.
  return { at: Number(start) - (before.length === 0 ? 0 : 1), before, after };
}
