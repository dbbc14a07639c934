import type { HistoryShape } from "../core/artifacts.ts";
import { LIMITS } from "../core/limits.ts";
import { type CommitFacts, parseCommit } from "./commit-object.ts";
import { type Git, must, mustText, words } from "./git.ts";
import { gitlinksOf, GITLINK } from "./own-index.ts";
import { readObjects } from "./read-objects.ts";

/** More commits than this become one patch. */
const MAX_COMMITS = LIMITS.commits;
/** Room for messages in manifest.json, which the host reads up to a limit. */
const MAX_MESSAGE_CHARACTERS = 2 * 1024 * 1024;
const COMMIT_OBJECT_BYTES = 1024 * 1024;
const COUNT_LIMIT = 100_000;

export interface ExportedCommit extends CommitFacts {
  readonly id: string;
}

export type History =
  | { readonly kind: "linear"; readonly commits: readonly ExportedCommit[] }
  | Extract<HistoryShape, { kind: "flattened" }>;

export interface HistoryEnds {
  readonly base: string;
  readonly tip: string;
  /** A tree that has no link to a repository which the base does not have; undefined where none is known. */
  readonly treeWithoutLinks: Promise<string | undefined>;
}

/**
 * Reads how the agent got from base to tip. Linear history can be exported one patch a commit; any other is
 * flattened, with a clause that says why.
 */
export async function readHistory(git: Git, ends: HistoryEnds): Promise<History> {
  const { base, tip } = ends;
  const listed = await git([
    "rev-list",
    "--parents",
    "--topo-order",
    `--max-count=${MAX_COMMITS + 1}`,
    tip,
    `^${base}`,
  ]);
  if (listed.code !== 0) return flattened("the history is not complete", 0);
  const lines = listed.stdout.toString("latin1").split("\n").filter(Boolean);
  const why = tip !== base && lines.length === 0 ? BEHIND : whyNotLinear(lines, base);
  if (why !== undefined) return flattened(why, await count(git, base, tip));
  const [read, links] = await Promise.allSettled([
    readCommits(git, lines),
    lines.length > 1 ? bringsLinks(git, base, tip) : undefined,
  ]);
  const commits = valueOf(read);
  if (typeof commits === "string") return flattened(commits, lines.length);
  if (valueOf(links) ?? (await bringsLinksAlone(git, ends, commits[0])))
    return flattened(
      "a commit links to a nested repository, whose files are recorded instead",
      lines.length,
    );
  return { kind: "linear", commits };
}

function valueOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

export function flattened(reason: string, commits: number): History {
  return { kind: "flattened", reason, commits };
}

/** There is nothing above the base then, not even where the agent went back. */
const BEHIND = "the base is not an ancestor of HEAD";

/** @param lines newest first: a commit and its parents. */
function whyNotLinear(lines: readonly string[], base: string): string | undefined {
  if (lines.length > MAX_COMMITS) return `there are more than ${MAX_COMMITS} commits`;
  const rows = lines.map((line) => line.split(" "));
  if (rows.some((row) => row.length > 2)) return "the history has a merge commit";
  const isChain = rows.every((row, index) => row[1] === (rows[index + 1]?.[0] ?? base));
  return isChain ? undefined : BEHIND;
}

/** Zero when there is no telling. */
async function count(git: Git, base: string, tip: string): Promise<number> {
  const counted = await git(["rev-list", "--count", `--max-count=${COUNT_LIMIT}`, tip, `^${base}`]);
  return counted.code === 0 ? Number(counted.stdout.toString("latin1")) : 0;
}

async function readCommits(
  git: Git,
  lines: readonly string[],
): Promise<readonly ExportedCommit[] | string> {
  const ids = lines.map((line) => line.split(" ", 1)[0] ?? "").toReversed();
  const objects = await readObjects(git, ids, COMMIT_OBJECT_BYTES);
  const commits: ExportedCommit[] = [];
  let characters = 0;
  for (const [index, id] of ids.entries()) {
    const raw = objects[index];
    const facts = raw === undefined ? undefined : parseCommit(raw);
    if (facts === undefined)
      return `message or author of commit ${id.slice(0, 12)} cannot be given exactly as UTF-8 text`;
    characters += facts.message.length;
    commits.push({ id, ...facts });
  }
  return characters > MAX_MESSAGE_CHARACTERS ? "the commit messages are too long" : commits;
}

/** Whether any commit on the way adds a link to a repository that the base does not have. */
async function bringsLinks(git: Git, base: string, tip: string): Promise<boolean> {
  const changes = await must(git, [
    ...words("log --raw -z --no-abbrev --no-renames --no-color --format="),
    ...words("--no-ext-diff --no-textconv --ignore-submodules=none"),
    `${base}..${tip}`,
  ]);
  if (!changes.includes(` ${GITLINK} `)) return false;
  const known = await gitlinksOf(git, base);
  const fields = changes.toString("latin1").split("\0");
  return fields.some((field, index) => {
    const isLink = /^\n?:\d{6} 160000 /.test(field);
    return isLink && !known.has(fields[index + 1] ?? "");
  });
}

/** The same for at most one commit, which brings nothing that its tree does not have. */
async function bringsLinksAlone(
  git: Git,
  { base, tip, treeWithoutLinks }: HistoryEnds,
  commit: ExportedCommit | undefined,
): Promise<boolean> {
  if (commit === undefined || commit.tree === (await treeWithoutLinks)) return false;
  return bringsLinks(git, base, tip);
}

/** Reads a commit the guest made itself. */
export async function readCommit(git: Git, id: string): Promise<ExportedCommit> {
  const raw = await must(git, ["cat-file", "commit", id]);
  const facts = parseCommit(raw);
  if (facts === undefined) throw new Error(`the guest's own commit ${id} cannot be read back`);
  return { id, ...facts };
}

/** The tree of a commit; throws when it cannot be read. */
export async function treeOf(git: Git, commit: string): Promise<string> {
  return mustText(git, [
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${commit}^{tree}`,
  ]);
}
