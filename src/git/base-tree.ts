import { lstatSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type FileOwner, settleEntry, settleTree } from "../files/ownership.ts";
import { removeTree } from "../files/remove-tree.ts";
import { type GitMaker, initBare } from "./base-store.ts";
import { type Git, gitFailure, gitOutput, sealedGit } from "./git.ts";

const ATTRIBUTES = /(?:^|\/)\.gitattributes$/;

/**
 * How much older files are made than they are. Git looks again and again into what is as young as the index, since a
 * change in that very second would leave the same time behind ("racy-git.txt" of Git's documentation); `git add` writes
 * all of it anew.
 */
const DATED_BACK_SECONDS = 2;

/**
 * The files of a commit, written by plumbing: an index of our own, no hooks, filters or drivers. What attributes say
 * about line endings and encodings holds, so that Git in a container sees a clean checkout.
 */
export interface BaseTree extends GitMaker {
  /** Directory of the files, and of nothing else. */
  readonly files: string;
  /** An index of the files with their times: it tells changed files from unchanged ones. */
  readonly index: string;
  /** Bare repository of our own that Git is told to be in; made where it is not there. */
  readonly gitDir: string;
  /** Where the commits and their files are: absolute object directory of the principal's. Only read. */
  readonly objectsDir: string;
  readonly owner: FileOwner | "as-written";
}

/** Writes all files of a commit anew. What is there goes first, so it may be called again after a crash. */
export async function rewriteTree(tree: BaseTree, commit: string): Promise<Result<void, Failure>> {
  await removeTree(tree.files);
  return writeTree(tree, commit);
}

/** Writes all files of a commit into a directory that is empty, or is not there. */
export async function writeTree(tree: BaseTree, commit: string): Promise<Result<void, Failure>> {
  await rm(tree.index, { force: true });
  await mkdir(tree.files, { recursive: true, mode: 0o755 });
  const git = await initBare(tree, tree.gitDir);
  if (!git.ok) return git;
  const written = await inTree(tree, git.value, ["read-tree", "--reset", "-u", commit]);
  return written.ok ? settleIn(tree, git.value) : written;
}

/**
 * Puts the files of one commit in the place of another's; only what differs is touched. After a crash in between, the
 * files are neither one's: then `writeTree` is to be called.
 *
 * @returns how many paths differed, or `rewritten` when a change of attributes made all files be written.
 */
export async function moveTree(
  tree: BaseTree,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Result<number | "rewritten", Failure>> {
  const git = sealedGit(tree.program, tree.env, tree.gitDir);
  const changed = await changedPaths(tree, git, { from, to });
  if (!changed.ok) return changed;
  // They decide how other files are written, which themselves need not have changed.
  if (changed.value.some(({ path }) => ATTRIBUTES.test(path))) {
    const rewritten = await rewriteTree(tree, to);
    return rewritten.ok ? ok("rewritten") : rewritten;
  }
  const moved = await inTree(tree, git, ["read-tree", "-m", "-u", from, to]);
  if (!moved.ok) return moved;
  if (settleChanged(tree, changed.value) > 0) {
    const refreshed = await refresh(tree, git);
    if (!refreshed.ok) return refreshed;
  }
  return ok(changed.value.length);
}

/** Whether the files are what the commit has, by their contents: what the index remembers of them is not believed. */
export async function isWhole(tree: BaseTree, commit: string): Promise<boolean> {
  await rm(tree.index, { force: true });
  const git = sealedGit(tree.program, tree.env, tree.gitDir);
  for (const args of [
    ["read-tree", commit],
    ["update-index", "-q", "--refresh"],
    ["diff-files", "--quiet"],
  ])
    if (!(await inTree(tree, git, args)).ok) return false;
  return true;
}

/**
 * Gives files that were put in another's place their owner and their times, and lets the index learn these. Only when
 * both are final can the index tell changed files from unchanged ones.
 */
export async function settle(tree: BaseTree): Promise<Result<void, Failure>> {
  const git = await initBare(tree, tree.gitDir);
  return git.ok ? settleIn(tree, git.value) : git;
}

async function settleIn(tree: BaseTree, git: Git): Promise<Result<void, Failure>> {
  settleTree(tree.files, settledAs(tree));
  return refresh(tree, git);
}

async function refresh(tree: BaseTree, git: Git): Promise<Result<void, Failure>> {
  const refreshed = await inTree(tree, git, ["update-index", "-q", "--refresh"]);
  return refreshed.ok ? ok(undefined) : refreshed;
}

async function inTree(
  tree: BaseTree,
  git: Git,
  args: readonly string[],
): Promise<Result<void, Failure>> {
  const exit = await git.exec(args, {
    indexFile: tree.index,
    workTree: tree.files,
    cwd: tree.files,
    objects: { into: join(tree.gitDir, "objects"), from: tree.objectsDir },
    deadlineMs: DEADLINES.gitLongMs,
  });
  return exit.code === 0 && exit.ended === "by-itself"
    ? ok(undefined)
    : err(gitFailure(args, exit));
}

interface ChangedPath {
  /** The new commit does not have it. */
  readonly isGone: boolean;
  /** A character for every byte: names in a repository need not be UTF-8. */
  readonly path: string;
}

async function changedPaths(
  tree: BaseTree,
  git: Git,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Result<readonly ChangedPath[], Failure>> {
  const args = ["diff-tree", "-r", "-z", "--name-status", "--no-renames", from, to];
  const listed = await gitOutput(git, args, {
    objects: { into: join(tree.gitDir, "objects"), from: tree.objectsDir },
    deadlineMs: DEADLINES.gitLongMs,
    maxOutputBytes: 512 * 1024 * 1024,
  });
  if (!listed.ok) return listed;
  const fields = listed.value.toString("latin1").split("\0");
  const changed: ChangedPath[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2)
    changed.push({ isGone: fields[at] === "D", path: fields[at + 1] ?? "" });
  return ok(changed);
}

/**
 * Gives the container's user what was just written, and the directories that were made for it, and dates the files. What
 * the new commit does not have is not looked for: a link may be where its directory was, and lead anywhere.
 *
 * @returns how many were looked at.
 */
function settleChanged(tree: BaseTree, changed: readonly ChangedPath[]): number {
  const settled = settledAs(tree);
  const seen = new Set<string>();
  for (const { isGone, path } of changed) {
    if (isGone) continue;
    for (let part = path; part !== "" && !seen.has(part); part = parentOf(part)) {
      seen.add(part);
      const file = Buffer.concat([Buffer.from(`${tree.files}/`), Buffer.from(part, "latin1")]);
      settleEntry(file, lstatSync(file), settled);
    }
  }
  return seen.size;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function settledAs({ owner }: BaseTree): { owner: FileOwner | undefined; time: number } {
  return {
    owner: owner === "as-written" ? undefined : owner,
    time: Math.floor(Date.now() / 1000) - DATED_BACK_SECONDS,
  };
}
