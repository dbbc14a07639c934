import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { DEADLINES } from "../core/limits.ts";
import { type Git, gitOutput, gitText } from "../git/git.ts";
import { gitIn } from "./git-in.ts";
import { headPosition } from "./sighting.ts";

const LONG = { deadlineMs: DEADLINES.gitLongMs, maxOutputBytes: 256 * 1024 * 1024 };
/** Beyond so many files nothing is proven, and the worktree stays. */
const MOST_FILES = 200_000;

/**
 * Says what a worktree of this repository holds that could not be had again; undefined when it is provably nothing.
 * Ignored files do not count: a pool keeps them as a cache. Neither does a file that is missing.
 *
 * @param path a worktree that is known to be ours; see `ownership`.
 */
export async function worthOfWorktree(git: Git, path: string): Promise<string | undefined> {
  const here = gitIn(git, path);
  const changed = await firstChange(here);
  if (changed !== undefined) return changed;
  const head = await headPosition(here);
  if (!head.ok) return `its HEAD cannot be read: ${head.error.message}`;
  if (head.value.attachedTo !== "") return `it is on ${head.value.attachedTo}`;
  const { commit } = head.value;
  const args = ["for-each-ref", "--count=1", "--format=%(refname)", `--contains=${commit}`];
  // The refs of every worktree: those of this one alone would go with it.
  const refs = await gitText(git, args);
  if (!refs.ok) return `it cannot be told whether a branch holds its commit: ${refs.error.message}`;
  if (refs.value === "") return `it is at ${commit.slice(0, 12)}, a commit that no branch holds`;
  return ownRefs(here);
}

/** What `git status` shows besides files that are missing: those are nothing to lose. */
async function firstChange(here: Git): Promise<string | undefined> {
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
  const status = await gitOutput(here, [...args, "--ignore-submodules=none"], LONG);
  if (!status.ok) return `Git cannot look at it: ${status.error.message}`;
  const rows = status.value.toString("utf8").split("\0");
  const change = rows.find((row) => row !== "" && !/^[ D]D /.test(row) && !row.startsWith("D  "));
  return change === undefined
    ? undefined
    : `it has changes, the first is ${JSON.stringify(change.slice(3))}`;
}

/** Refs that only this worktree has; see git-worktree(1), section REFS. */
async function ownRefs(here: Git): Promise<string | undefined> {
  const prefixes = ["refs/worktree", "refs/bisect", "refs/rewritten"];
  const found = await gitText(here, [
    "for-each-ref",
    "--count=1",
    "--format=%(refname)",
    ...prefixes,
  ]);
  if (!found.ok) return `its own refs cannot be read: ${found.error.message}`;
  return found.value === "" ? undefined : `it has a ref of its own, ${found.value}`;
}

/**
 * The same for a directory that Git does not know as a worktree any more: every file that is not ignored must be one
 * whose exact bytes are in the repository. Undefined when it is provably nothing.
 */
export async function worthOfDirectory(
  git: Git,
  commonDir: string,
  path: string,
): Promise<string | undefined> {
  const dotGit = await lstat(join(path, ".git")).catch(() => undefined);
  if (dotGit?.isDirectory() === true) return "it is a repository of its own";
  const indexFile = join(path, ".no-index");
  const over = [`--git-dir=${commonDir}`, `--work-tree=${path}`];
  // With an index that is not there, every file that is not ignored is an "other" one.
  const listed = await gitOutput(
    gitIn(git, path),
    [...over, "ls-files", "-z", "--others", "--exclude-standard"],
    { ...LONG, indexFile },
  );
  if (!listed.ok) return `Git cannot look at it: ${listed.error.message}`;
  const files = listed.value
    .toString("latin1")
    .split("\0")
    .filter((name) => name !== "");
  if (files.length > MOST_FILES) return `it has more than ${MOST_FILES} files`;
  const odd = files.find((name) => name.includes("\n") || name.endsWith("/"));
  if (odd !== undefined) return `it has ${JSON.stringify(odd)}, which is not looked into`;
  return firstUnknown(git, { path, over }, files);
}

async function firstUnknown(
  git: Git,
  { path, over }: { readonly path: string; readonly over: readonly string[] },
  files: readonly string[],
): Promise<string | undefined> {
  const regular: string[] = [];
  for (const file of files) {
    const stat = await lstat(Buffer.concat([Buffer.from(`${path}/`), Buffer.from(file, "latin1")]));
    // hash-object would follow a link.
    if (!stat.isFile()) return `it has ${JSON.stringify(file)}, which is not a regular file`;
    regular.push(file);
  }
  if (regular.length === 0) return undefined;
  const paths = Buffer.from(regular.map((file) => `${file}\n`).join(""), "latin1");
  const hashed = await gitText(
    gitIn(git, path),
    [...over, "hash-object", "--no-filters", "--stdin-paths"],
    {
      ...LONG,
      stdin: paths,
    },
  );
  if (!hashed.ok) return `its files cannot be read: ${hashed.error.message}`;
  const known = await gitText(git, ["cat-file", "--batch-check=%(objecttype)"], {
    ...LONG,
    stdin: `${hashed.value}\n`,
  });
  if (!known.ok) return `its files cannot be looked up: ${known.error.message}`;
  const unknown = known.value.split("\n").findIndex((type) => type !== "blob");
  return unknown === -1
    ? undefined
    : `it has ${JSON.stringify(regular[unknown] ?? "")}, whose content the repository has not`;
}
