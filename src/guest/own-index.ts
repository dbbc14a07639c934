import { copyFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { type Git, type GitCall, must, words } from "./git.ts";
import { nulSeparated, pathBytes } from "./nul-separated.ts";
import { rawChanges } from "./raw-diff.ts";

/** The guest's index over the workspace's files. */
export interface OwnIndex {
  readonly git: Git;
  /** What every call needs to see the workspace through this index. */
  readonly view: Pick<GitCall, "indexFile" | "workTree" | "cwd">;
}

export interface IndexSources {
  readonly indexFile: string;
  readonly workspace: string;
  /** Its stat data spares hashing every file that nobody touched. */
  readonly baseIndex: string;
  readonly base: string;
  readonly commit: string;
}

/** From about 7,000 files on, to read the difference of two commits is quicker than to read all of one. */
const LARGE_INDEX_BYTES = 1024 * 1024;

/** Makes an index that holds exactly the commit's tree. */
export async function makeIndex(git: Git, sources: IndexSources): Promise<OwnIndex> {
  const view = {
    indexFile: sources.indexFile,
    workTree: sources.workspace,
    cwd: sources.workspace,
  };
  const index = { git, view };
  if (await hasStatData(index, sources)) return index;
  rmSync(sources.indexFile, { force: true });
  await must(git, ["read-tree", sources.commit], view);
  return index;
}

async function hasStatData(index: OwnIndex, sources: IndexSources): Promise<boolean> {
  const { base, commit } = sources;
  let bytes: number;
  try {
    copyFileSync(sources.baseIndex, sources.indexFile);
    // An index says of a file written after it, or in the same second, that it must be looked into. A copy that
    // seemed younger would say of a file changed in that second, to the same size, that nobody touched it.
    const { mtimeMs, size } = statSync(sources.baseIndex);
    const wholeSecond = Math.floor(mtimeMs / 1000);
    utimesSync(sources.indexFile, wholeSecond, wholeSecond);
    bytes = size;
  } catch {
    return false;
  }
  if (commit === base) return true;
  return bytes < LARGE_INDEX_BYTES
    ? moveByTree(index, commit)
    : moveByDifference(index, base, commit);
}

/**
 * A one-tree merge in the index alone, whatever lies in the workspace: the tree's entries, with the index's stat data
 * wherever the two agree.
 */
export async function moveByTree({ git, view }: OwnIndex, commit: string): Promise<boolean> {
  return (await git(["read-tree", "-i", "-m", commit], view)).code === 0;
}

/** The same for an index that holds the base: only what differs is looked at. */
export async function moveByDifference(
  { git, view }: OwnIndex,
  base: string,
  commit: string,
): Promise<boolean> {
  const rows: string[] = [];
  const stdout = rawChanges(({ to, id, path }) => rows.push(`${to} ${id}\t${path}\0`));
  const diff = words("diff-tree -r -z --raw --no-renames --no-abbrev --no-ext-diff");
  const listed = await git([...diff, "--ignore-submodules=none", base, commit], { stdout });
  if (listed.code !== 0) return false;
  const stdin = pathBytes(rows.join(""));
  return (await git(["update-index", "-z", "--index-info"], { ...view, stdin })).code === 0;
}

export const GITLINK = "160000";

export interface IndexEntry {
  readonly mode: string;
  readonly path: string;
}

/** Goes through the index, one entry at a time. */
export async function eachEntry(
  index: OwnIndex,
  onEntry: (entry: IndexEntry) => void,
): Promise<void> {
  const stdout = nulSeparated((record) => onEntry(entryOf(record)));
  await must(index.git, ["ls-files", "-z", "--stage"], { ...index.view, stdout });
}

/** Takes paths out of the index; the files stay. */
export async function forget(index: OwnIndex, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const stdin = pathBytes(paths.map((path) => `${path}\0`).join(""));
  await must(index.git, ["update-index", "-z", "--force-remove", "--stdin"], {
    ...index.view,
    stdin,
  });
}

/** Paths of the links to other repositories in a tree. */
export async function gitlinksOf(git: Git, commit: string): Promise<ReadonlySet<string>> {
  const links = new Set<string>();
  const stdout = nulSeparated((record) => {
    const entry = entryOf(record);
    if (entry.mode === GITLINK) links.add(entry.path);
  });
  await must(git, ["ls-tree", "-r", "-z", commit], { stdout });
  return links;
}

/** `MODE … TAB PATH`, as ls-files --stage and ls-tree print it. */
function entryOf(record: string): IndexEntry {
  return { mode: record.slice(0, 6), path: record.slice(record.indexOf("\t") + 1) };
}
