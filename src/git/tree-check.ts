import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

/** One path that differs between two commits. Modes are Git's octal modes as text. */
export interface ChangedEntry {
  readonly status: "A" | "D" | "M" | "T";
  /** One character a byte is kept where the name is not UTF-8. */
  readonly path: string;
  readonly utf8: "valid" | "invalid";
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldBlob: string;
  readonly newBlob: string;
}

/** Two trees, one after the other; commits stand for their trees where it says so. */
export interface TreeStep {
  readonly from: string;
  readonly to: string;
}

/** Without rename guesses; read from objects, so no work tree is involved. */
const DIFF_TREE = [
  "diff-tree",
  "-r",
  "-z",
  "--raw",
  "--no-renames",
  "--no-abbrev",
  "--no-ext-diff",
  "--no-textconv",
];
const MAX_BYTES = 256 * 1024 * 1024;

/** Between commits that were named by their ids: that never changes, and a run asks for it in several places. */
const KNOWN = new Map<string, readonly ChangedEntry[]>();
const MOST_KNOWN = { pairs: 8, entries: 1000 };

function remember(pair: string, entries: readonly ChangedEntry[]): void {
  if (!/^[0-9a-f]{40} [0-9a-f]{40}$/.test(pair) || entries.length > MOST_KNOWN.entries) return;
  for (const oldest of [...KNOWN.keys()].slice(0, KNOWN.size + 1 - MOST_KNOWN.pairs))
    KNOWN.delete(oldest);
  KNOWN.set(pair, entries);
}

/** What differs between two commits, or trees. */
export async function changedEntries(
  git: Git,
  from: string,
  to: string,
): Promise<Result<readonly ChangedEntry[], Failure>> {
  const known = KNOWN.get(`${from} ${to}`);
  if (known !== undefined) return ok(known);
  const raw = await gitOutput(git, [...DIFF_TREE, from, to], { maxOutputBytes: MAX_BYTES });
  return raw.ok ? ok(readEntries(raw.value.toString("latin1")).entries) : raw;
}

/**
 * The same, with one more kind of output of git-diff-tree(1) from the same start.
 *
 * @param format an option such as `--numstat`.
 * @returns that output, separated by NUL, one character a byte.
 */
export async function changedEntriesAnd(
  git: Git,
  { from, to }: TreeStep,
  format: "--numstat",
): Promise<Result<{ readonly entries: readonly ChangedEntry[]; readonly rest: string }, Failure>> {
  const args = [...DIFF_TREE, format, from, to];
  const raw = await gitOutput(git, args, { maxOutputBytes: 2 * MAX_BYTES });
  if (!raw.ok) return raw;
  const read = readEntries(raw.value.toString("latin1"));
  remember(`${from} ${to}`, read.entries);
  return ok(read);
}

/** A colon and the entry, NUL, the path, NUL, as often as there are some. */
function readEntries(text: string): { readonly entries: ChangedEntry[]; readonly rest: string } {
  const entries: ChangedEntry[] = [];
  let at = 0;
  while (text[at] === ":") {
    const metaEnd = text.indexOf("\0", at);
    const pathEnd = text.indexOf("\0", metaEnd + 1);
    if (metaEnd === -1 || pathEnd === -1) break;
    const entry = parseEntry(text.slice(at, metaEnd), text.slice(metaEnd + 1, pathEnd));
    if (entry !== undefined) entries.push(entry);
    at = pathEnd + 1;
  }
  return { entries, rest: text.slice(at) };
}

/**
 * What differs in each of many steps, with one start of Git.
 *
 * @param steps ids of trees; one answer each, in this order.
 */
export async function changesOfSteps(
  git: Git,
  steps: readonly TreeStep[],
): Promise<Result<readonly (readonly ChangedEntry[])[], Failure>> {
  if (steps.length === 0) return ok([]);
  const args = [...DIFF_TREE, "--stdin"];
  const raw = await gitOutput(git, args, {
    stdin: steps.map(({ from, to }) => `${from} ${to}\n`).join(""),
    maxOutputBytes: MAX_BYTES,
    deadlineMs: DEADLINES.gitLongMs,
  });
  if (!raw.ok) return raw;
  const changes = parseSteps(raw.value.toString("latin1"));
  if (changes.length === steps.length) return ok(changes);
  return fail("git-failed", `git diff-tree told of ${changes.length} steps of ${steps.length}.`);
}

/** A line for each step, `FROM TO`, which ends with a line feed also under -z; then the entries as for one step. */
function parseSteps(text: string): readonly (readonly ChangedEntry[])[] {
  const steps: ChangedEntry[][] = [];
  for (let at = 0; at < text.length;) {
    const metaEnd = text.indexOf("\0", at);
    if (text[at] !== ":") {
      const feed = text.indexOf("\n", at);
      if (feed === -1) return [];
      steps.push([]);
      at = feed + 1;
      continue;
    }
    const pathEnd = text.indexOf("\0", metaEnd + 1);
    if (metaEnd === -1 || pathEnd === -1) return [];
    const entry = parseEntry(text.slice(at, metaEnd), text.slice(metaEnd + 1, pathEnd));
    if (entry !== undefined) steps.at(-1)?.push(entry);
    at = pathEnd + 1;
  }
  return steps;
}

function parseEntry(meta: string, rawPath: string): ChangedEntry | undefined {
  const match = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([ADMT])$/.exec(meta);
  if (match === null) return undefined;
  const [, oldMode = "", newMode = "", oldBlob = "", newBlob = "", status = ""] = match;
  const bytes = Buffer.from(rawPath, "latin1");
  const decoded = bytes.toString("utf8");
  const valid = Buffer.from(decoded, "utf8").equals(bytes);
  return {
    // The pattern above admits these four letters alone.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    status: status as ChangedEntry["status"],
    path: valid ? decoded : rawPath,
    utf8: valid ? "valid" : "invalid",
    oldMode,
    newMode,
    oldBlob,
    newBlob,
  };
}

/**
 * The changed entries that the new tree holds.
 *
 * @returns `import-refused` where they make, or complete, a bare repository inside the new tree.
 */
export async function addedEntries(
  git: Git,
  from: string,
  to: string,
): Promise<Result<readonly ChangedEntry[], Failure>> {
  const entries = await changedEntries(git, from, to);
  return entries.ok ? addedAmong(git, { from, to }, entries.value) : entries;
}

/** The same where it is known what differs. */
export async function addedAmong(
  git: Git,
  { from, to }: TreeStep,
  entries: readonly ChangedEntry[],
): Promise<Result<readonly ChangedEntry[], Failure>> {
  const added = entries.filter((entry) => entry.status !== "D");
  const suspects = new Set(added.flatMap((entry) => repositoriesAround(pathBytes(entry))));
  if (suspects.size === 0) return ok(added);
  const before = await pathsOf(git, from);
  if (!before.ok) return before;
  const after = await pathsOf(git, to);
  if (!after.ok) return after;
  const made = [...suspects].find(
    (directory) => isRepository(directory, after.value) && !isRepository(directory, before.value),
  );
  if (made === undefined) return ok(added);
  const shown = JSON.stringify(Buffer.from(made, "latin1").toString("utf8"));
  return fail(
    "import-refused",
    `${shown} looks like a bare repository inside the tree: Git commands run in it would obey its configuration.`,
  );
}

/** A directory that holds these is taken for a repository by Git itself; case may not matter where it lies. */
const REPOSITORY_PARTS: readonly string[] = ["head", "objects", "refs"];

/** One character a byte, whatever the name is. */
export function pathBytes(entry: ChangedEntry): string {
  return entry.utf8 === "valid" ? Buffer.from(entry.path, "utf8").toString("latin1") : entry.path;
}

/** The directories, with a slash at the end, of which a path could be a part that makes them a repository. */
function repositoriesAround(path: string): readonly string[] {
  const names = path.split("/");
  return names.flatMap((name, index) => {
    const parent = names.slice(0, index).map((one) => `${one}/`);
    return REPOSITORY_PARTS.includes(name.toLowerCase()) ? [parent.join("")] : [];
  });
}

function isRepository(directory: string, paths: ReadonlySet<string>): boolean {
  return REPOSITORY_PARTS.every((part) => paths.has(directory.toLowerCase() + part));
}

/** Every path of a commit's tree, directories too, in lower case and one character a byte. */
async function pathsOf(git: Git, commit: string): Promise<Result<ReadonlySet<string>, Failure>> {
  const listed = await gitOutput(git, ["ls-tree", "-r", "-t", "-z", "--name-only", commit], {
    maxOutputBytes: 256 * 1024 * 1024,
  });
  if (!listed.ok) return listed;
  return ok(new Set(listed.value.toString("latin1").toLowerCase().split("\0")));
}
