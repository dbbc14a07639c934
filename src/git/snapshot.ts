import { copyFile, mkdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import type { Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput, gitText, sealedGit } from "./git.ts";

export interface SnapshotLayout {
  /** Absolute path of the git program. */
  readonly program: string;
  readonly env: HostEnvironment;
  /** Bare repository that gets the objects reachable from the base, and nothing else. */
  readonly storeDir: string;
  /** The throwaway work tree. */
  readonly workspaceDir: string;
  /** Index of the base; the guest starts from a copy of it. */
  readonly indexFile: string;
  readonly base: string;
  /** Name of the branch the snapshot is on. */
  readonly branch: string;
  /** Where the container sees `storeDir`. */
  readonly storeInContainer: string;
}

/** Fills the store with the objects reachable from the base. May be called again: the pack's name is its content. */
export async function fillBaseStore(
  source: Git,
  layout: SnapshotLayout,
): Promise<Result<Git, Failure>> {
  await mkdir(layout.storeDir, { recursive: true });
  const store = sealedGit(layout.program, layout.env, layout.storeDir);
  const made = await gitOutput(store, [
    "init",
    "--bare",
    "--quiet",
    "--template=",
    "--initial-branch=base",
  ]);
  if (!made.ok) return made;
  const objects = await gitText(source, [
    "rev-parse",
    "--path-format=absolute",
    "--git-path",
    "objects",
  ]);
  if (!objects.ok) return objects;
  const into = join(layout.storeDir, "objects");
  const packed = await gitOutput(
    source,
    ["pack-objects", "--revs", "--delta-base-offset", "-q", join(into, "pack/pack")],
    {
      // A pack is begun in the repository's own object directory and then renamed, which fails where the state
      // directory is on another file system.
      objects: { into, from: objects.value },
      stdin: `${layout.base}\n`,
      deadlineMs: DEADLINES.gitLongMs,
    },
  );
  return packed.ok ? ok(store) : packed;
}

/**
 * Writes the base's files by plumbing: an index of our own, no hooks, filters or drivers. What attributes say about
 * line endings and encodings holds, so that Git in the container sees a clean checkout.
 */
export async function writeWorkspace(
  store: Git,
  layout: SnapshotLayout,
): Promise<Result<void, Failure>> {
  await mkdir(layout.workspaceDir, { recursive: true });
  const written = await gitOutput(store, ["read-tree", "--reset", "-u", layout.base], {
    indexFile: layout.indexFile,
    workTree: layout.workspaceDir,
    cwd: layout.workspaceDir,
    deadlineMs: DEADLINES.gitLongMs,
  });
  return written.ok ? ok(undefined) : written;
}

/** To be called when ownership and times of the files are final: the index then tells changed files from unchanged. */
export async function refreshIndex(
  store: Git,
  layout: SnapshotLayout,
): Promise<Result<void, Failure>> {
  const refreshed = await gitOutput(store, ["update-index", "-q", "--refresh"], {
    indexFile: layout.indexFile,
    workTree: layout.workspaceDir,
    cwd: layout.workspaceDir,
    deadlineMs: DEADLINES.gitLongMs,
  });
  return refreshed.ok ? ok(undefined) : refreshed;
}

/**
 * Gives the snapshot its `.git`: on a branch at the base, without remote, hooks or inherited configuration. Written
 * by hand, since its objects lie at a path that only the container has.
 *
 * @param excluded overlay paths, so that the agent's own `git add -A` does not sweep them in.
 */
export async function writeGitDirectory(
  layout: SnapshotLayout,
  excluded: readonly string[],
): Promise<void> {
  const gitDir = join(layout.workspaceDir, ".git");
  const ref = join(gitDir, "refs/heads", layout.branch);
  for (const directory of ["objects/info", "objects/pack", "info", "refs/tags", "hooks"])
    await mkdir(join(gitDir, directory), { recursive: true });
  await mkdir(join(ref, ".."), { recursive: true });
  const exclude = excluded.map((path) => `/${path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)}`);
  const files: Readonly<Record<string, string>> = {
    HEAD: `ref: refs/heads/${layout.branch}\n`,
    config: "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
    "objects/info/alternates": `${layout.storeInContainer}/objects\n`,
    "info/exclude": [...exclude, ""].join("\n"),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(gitDir, name), text);
  await writeFile(ref, `${layout.base}\n`);
  await copyIndex(layout.indexFile, join(gitDir, "index"));
}

/**
 * Git looks into files as young as the index itself, since their times cannot tell whether they changed afterwards.
 * A copy keeps that time: with a younger one, a change in the second of the snapshot would not be seen.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { mtimeMs } = await stat(from);
  const wholeSecond = Math.floor(mtimeMs / 1000);
  await utimes(to, wholeSecond, wholeSecond);
}
