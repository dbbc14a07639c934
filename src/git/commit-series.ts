import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { gitOutput } from "./git.ts";
import type { CommitRequest, Quarantine } from "./quarantine.ts";
import { type ChangedEntry, pathBytes } from "./tree-check.ts";
import { withTrailers } from "./with-trailers.ts";

/** A commit as what it changes, on top of the one before. */
export interface CommitOfSeries extends Omit<CommitRequest, "tree" | "parent"> {
  readonly changes: readonly SeriesChange[];
}

export interface SeriesChange {
  /** One character a byte. */
  readonly path: string;
  /** What is there afterwards; undefined for nothing. */
  readonly blob: SeriesBlob | undefined;
}

interface SeriesBlob {
  readonly mode: string;
  readonly id: string;
  /** Where the object is not there yet. */
  readonly content?: Buffer;
}

export function seriesChange(entry: ChangedEntry): SeriesChange {
  const { newMode: mode, newBlob: id } = entry;
  return { path: pathBytes(entry), blob: entry.status === "D" ? undefined : { mode, id } };
}

export interface MadeCommit {
  readonly id: string;
  readonly tree: string;
}

/** The quarantine is made anew after a crash: nothing in it is worth waiting for the disk. */
const FAST_IMPORT = ["-c", "core.fsync=none", "-c", "fastimport.unpackLimit=0", "fast-import"];

/**
 * Makes commits one on top of the other with one start of git-fast-import(1), which reads and writes only the trees on the
 * way to what changes. The ids are those that `commitTree` gives.
 *
 * @param series commits of which `isPlainCommit` says so, at least one.
 */
export async function commitSeries(
  quarantine: Quarantine,
  parent: string,
  series: readonly CommitOfSeries[],
): Promise<Result<readonly MadeCommit[], Failure>> {
  const args = [...FAST_IMPORT, "--quiet", "--force", "--done", "--date-format=raw"];
  const made = await gitOutput(quarantine.git, args, {
    stdin: Buffer.concat([...series.map((one, index) => commands(one, index, parent)), DONE]),
    deadlineMs: DEADLINES.gitLongMs,
  });
  if (!made.ok) return made;
  const commits = [...made.value.toString("latin1").matchAll(MADE)].map(
    ([, tree = "", id = ""]) => ({ id, tree }),
  );
  if (commits.length === series.length) return ok(commits);
  return fail("git-failed", `git fast-import made ${commits.length} of ${series.length} commits.`);
}

const DONE = Buffer.from("done\n");
/** The answers to `ls` and `get-mark`. */
const MADE = /^040000 tree ([0-9a-f]{40})\t.*\n([0-9a-f]{40})$/gm;

function commands(commit: CommitOfSeries, index: number, parent: string): Buffer {
  const { author, committer } = commit;
  const message = Buffer.from(withTrailers(commit.message, commit.trailers));
  const head = [
    "commit refs/heads/import",
    `mark :${index + 1}`,
    `author ${author.name} <${author.email}> ${canonicalDate(author.date)}`,
    `committer ${committer.name} <${committer.email}> ${canonicalDate(committer.date)}`,
    `data ${message.length}\n`,
  ];
  const from = index === 0 ? [`from ${parent}`] : [];
  // Away first: a file can take the place of a directory.
  const gone = commit.changes.filter(({ blob }) => blob === undefined);
  const there = commit.changes.flatMap(({ path, blob }) => (blob ? [fileCommand(path, blob)] : []));
  return Buffer.concat([
    Buffer.from(head.join("\n")),
    message,
    Buffer.from(
      ["", ...from, ...gone.map(({ path }) => `D ${quoted(path)}`), ""].join("\n"),
      "latin1",
    ),
    ...there.flat(),
    Buffer.from(`ls ""\nget-mark :${index + 1}\n`),
  ]);
}

function fileCommand(path: string, { mode, id, content }: SeriesBlob): readonly Buffer[] {
  const command = `M ${mode} ${content === undefined ? id : "inline"} ${quoted(path)}\n`;
  if (content === undefined) return [Buffer.from(command, "latin1")];
  const data = `data ${content.length}\n`;
  return [Buffer.from(command + data, "latin1"), content, Buffer.from("\n")];
}

function quoted(path: string): string {
  const escaped = path.replaceAll(/["\\\n]/g, (one) => (one === "\n" ? "\\n" : `\\${one}`));
  return `"${escaped}"`;
}

/** As Git writes it: no zeros in front, and no zone before zero. */
function canonicalDate(date: string): string {
  const [seconds = "", zone = ""] = date.split(" ");
  return `${Number(seconds)} ${zone === "-0000" ? "+0000" : zone}`;
}

/**
 * Whether Git would write author, dates and message down just as they are given, so that nobody has to know what it
 * makes of others: it takes some characters off the ends of names, and reads text that is not proper UTF-8 as Latin-1.
 */
export function isPlainCommit(commit: CommitOfSeries): boolean {
  const { author, committer, message, trailers } = commit;
  const texts = [message, ...trailers, author.name, author.email, committer.name, committer.email];
  return (
    [author, committer].every(
      ({ name, email, date }) => isPlainName(name) && isPlainName(email) && PLAIN_DATE.test(date),
    ) && texts.every((text) => !UNUSUAL.test(text))
  );
}

const PLAIN_DATE = /^\d{1,12} [+-]\d{4}$/;
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const UNUSUAL = /[\u0000\p{Noncharacter_Code_Point}\p{Surrogate}]/u;

/** See strbuf_addstr_without_crud() in Git's ident.c. */
function isPlainName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  return !/[\u0000-\u001F<>]/.test(name) && /^[^\s.,:;"\\'](?:.*[^\s.,:;"\\'])?$/.test(name);
}
