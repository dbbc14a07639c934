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

/** The next line with its line feed; empty at the end. */
function peek({ lines, next }: Reader): string {
  return lines[next] ?? "";
}

function readDiff(reader: Reader): FileDiff | undefined {
  const path = readPath(reader);
  const head = path === undefined ? undefined : readHead(reader);
  if (path === undefined || head === undefined) return undefined;
  if (!peek(reader).startsWith("--- ")) return { path, ...head, hunks: [] };
  if (!readNames(reader, path, head.kind)) return undefined;
  const hunks = readHunks(reader);
  return hunks === undefined ? undefined : { path, ...head, hunks };
}

/** Two paths in quotes. */
const LONGEST_NAMES = 40_000;
const SAME_NAMES = /^diff --git ("?)a\/(.+) \1b\/\2\n$/;

function readPath(reader: Reader): string | undefined {
  const line = peek(reader);
  if (line.length > LONGEST_NAMES || !SAME_NAMES.test(line)) return undefined;
  return nameIn(reader, "diff --git ");
}

/** Whether the names are those of the file, or say that it is new or gone. */
function readNames(reader: Reader, path: string, kind: FileDiff["kind"]): boolean {
  const old = nameIn(reader, "--- ");
  const now = nameIn(reader, "+++ ");
  return (
    old === (kind === "added" ? NOTHING : path) && now === (kind === "deleted" ? NOTHING : path)
  );
}

/** `/dev/null` without its first component, as every name is. */
const NOTHING = "dev/null";

/** The one path that a line names; undefined where that is not for sure. */
function nameIn(reader: Reader, prefix: string): string | undefined {
  const line = peek(reader).replace(/\n$/, "");
  if (!line.startsWith(prefix)) return undefined;
  reader.next += 1;
  if (line === `${prefix}/dev/null`) return NOTHING;
  const names = namesIn(line);
  const [name = ""] = names;
  return names.length === 1 && /^[ab]\//.test(name) ? plainPath(name) : undefined;
}

/** What may stand between the names and the lines; the modes of files and links, and nothing else. */
const HEAD =
  /^(?:(new|deleted) file mode (100644|100755|120000)\n|old mode 1\d{5}\nnew mode (100644|100755|120000)\n)?(index [0-9a-f]{40}\.\.[0-9a-f]{40}(?: 1\d{5})?\n)?/;

function readHead(reader: Reader): Pick<FileDiff, "kind" | "mode"> | undefined {
  const ahead = reader.lines.slice(reader.next, reader.next + 3).join("");
  const [head = "", made, own, changed, index] = HEAD.exec(ahead) ?? [];
  reader.next += head.split("\n").length - 1;
  // Where nothing but the mode changes there are no ids, and no lines.
  const isWhole = index !== undefined || (changed !== undefined && !isOfDiff(peek(reader)));
  if (!isWhole) return undefined;
  if (made === "deleted") return { kind: "deleted", mode: undefined };
  return made === "new" ? { kind: "added", mode: own } : { kind: "modified", mode: changed };
}

function isOfDiff(line: string): boolean {
  return line.startsWith("--- ") || line.startsWith("@@ ");
}

function readHunks(reader: Reader): readonly Hunk[] | undefined {
  const hunks: Hunk[] = [];
  while (peek(reader).startsWith("@@ ")) {
    const hunk = readHunk(reader);
    if (hunk === undefined) return undefined;
    hunks.push(hunk);
  }
  return hunks.length === 0 ? undefined : hunks;
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@[^\n]*\n$/;

function readHunk(reader: Reader): Hunk | undefined {
  const counts = HUNK.exec(peek(reader));
  if (counts === null) return undefined;
  reader.next += 1;
  const [, start, old = "1", now = "1"] = counts;
  const before: string[] = [];
  const after: string[] = [];
  while (before.length < Number(old) || after.length < Number(now)) {
    const line = readLine(reader);
    if (line === undefined) return undefined;
    if (line.sign !== "+") before.push(line.content);
    if (line.sign !== "-") after.push(line.content);
  }
  if (before.length !== Number(old) || after.length !== Number(now)) return undefined;
  // Of no lines the place is named by the line before.
  return { at: Number(start) - (before.length === 0 ? 0 : 1), before, after };
}

/** A line of a hunk, with what is said of its end. */
function readLine(reader: Reader): { readonly sign: string; readonly content: string } | undefined {
  const line = peek(reader);
  if (!/^[ +-][^]*\n$/.test(line)) return undefined;
  reader.next += 1;
  const isLast = peek(reader).startsWith("\\ ");
  if (isLast) reader.next += 1;
  return { sign: line.slice(0, 1), content: isLast ? line.slice(1, -1) : line.slice(1) };
}
