import type { Failure } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type Git, gitFailure } from "./git.ts";

export interface AddedLine {
  readonly path: string;
  /** Without its line feed. Bytes that are not UTF-8 are replacement characters. */
  readonly line: string;
  /** Counted from 1, in the new file. */
  readonly lineNumber: number;
}

export interface AddedLines {
  readonly lines: readonly AddedLine[];
  /** `cut` where there are more than are looked at: a small patch can add tens of millions of lines. */
  readonly extent: "whole" | "cut";
}

const MAX_DIFF_BYTES = 128 * 1024 * 1024;
const MAX_LINES = 1_000_000;

const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Added lines of every file between two commits, for scanning: of binary files too, since `--text` shows their bytes.
 * External programs and attributes have no say.
 */
export async function addedLines(
  git: Git,
  from: string,
  to: string,
): Promise<Result<AddedLines, Failure>> {
  const args = [
    "diff-tree",
    "-r",
    "-p",
    "--text",
    "--unified=0",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    from,
    to,
  ];
  const exit = await git.exec(args, { maxOutputBytes: MAX_DIFF_BYTES });
  if (exit.code !== 0 || exit.ended !== "by-itself") return err(gitFailure(args, exit));
  const lines = linesOf(exit.stdout.toString("utf8"));
  const extent = exit.truncated || lines.length === MAX_LINES ? "cut" : "whole";
  return ok({ lines, extent });
}

/**
 * Reads a diff without context. The counts of each hunk decide which lines are content: an added line that looks like
 * a header (`++ b/other`) must not make the lines after it belong to another file.
 */
function linesOf(diff: string): readonly AddedLine[] {
  const found: AddedLine[] = [];
  let path = "";
  let lineNumber = 0;
  let left = { deleted: 0, added: 0 };
  for (const line of linesIn(diff)) {
    if (found.length === MAX_LINES) break;
    if (left.deleted > 0 && line.startsWith("-")) left.deleted -= 1;
    else if (left.added > 0 && line.startsWith("+")) {
      found.push({ path, line: line.slice(1), lineNumber });
      left.added -= 1;
      lineNumber += 1;
    } else if (line.startsWith("+++ ")) path = pathOf(line.slice("+++ ".length));
    else {
      const [, deleted = "1", start, added = "1"] = HUNK.exec(line) ?? [];
      if (start === undefined) continue;
      lineNumber = Number(start);
      left = { deleted: Number(deleted), added: Number(added) };
    }
  }
  return found;
}

/** One after another: all of them at once could be tens of millions of texts. */
function* linesIn(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const end = feed === -1 ? text.length : feed;
    yield text.slice(at, end);
    at = end + 1;
  }
}

/** Git writes a name with unusual bytes in quotes, as C does; and a tab behind a name with spaces. */
function pathOf(written: string): string {
  const name = written.replace(/\t$/, "");
  if (!name.startsWith('"')) return name.replace(/^b\//, "");
  const bytes = name.slice(1, -1).replaceAll(/\\([0-7]{3}|.)/g, (_, code: string) => {
    if (code.length === 3) return String.fromCodePoint(Number.parseInt(code, 8));
    return ESCAPES[code] ?? code;
  });
  return Buffer.from(bytes, "latin1").toString("utf8").replace(/^b\//, "");
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
};
