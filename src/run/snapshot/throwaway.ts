import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { giveTo } from "../../files/ownership.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import type { Git } from "../../git/git.ts";
import {
  type SnapshotLayout,
  fillBaseStore,
  refreshIndex,
  writeGitDirectory,
  writeWorkspace,
} from "../../git/snapshot.ts";
import { IN_CONTAINER } from "../paths.ts";

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Makes a throwaway repository at a commit, owned by the container's user.
 *
 * @param addUntracked puts files into the work tree that Git does not track, and returns their paths.
 */
export async function makeThrowaway<T extends { readonly paths: readonly string[] }>(
  source: Git,
  layout: SnapshotLayout,
  {
    owner,
    addUntracked,
  }: { readonly owner: Owner; readonly addUntracked: () => Promise<Result<T, Failure>> },
): Promise<Result<T, Failure>> {
  const store = await fillBaseStore(source, layout);
  if (!store.ok) return store;
  const written = await writeWorkspace(store.value, layout);
  if (!written.ok) return written;
  const added = await addUntracked();
  if (!added.ok) return added;
  await writeGitDirectory(layout, added.value.paths);
  giveTo(layout.workspaceDir, owner);
  // Only now, with owner and times final, can the index tell changed files from unchanged ones.
  const refreshed = await refreshIndex(store.value, layout);
  if (!refreshed.ok) return refreshed;
  const gitDir = join(layout.workspaceDir, ".git");
  await copyFile(layout.indexFile, join(gitDir, "index"));
  giveTo(gitDir, owner);
  return ok(added.value);
}

/** A passwd and a group with the container's user, so that programs find one. */
export async function writeAccounts(directory: string, { uid, gid }: Owner): Promise<void> {
  const passwd = [
    "root:x:0:0:root:/:/sbin/nologin",
    `guardloop:x:${uid}:${gid}:guardloop:${IN_CONTAINER.home}:/bin/sh`,
    "",
  ];
  await writeAtomic(join(directory, "passwd"), passwd.join("\n"), 0o644);
  await writeAtomic(join(directory, "group"), `root:x:0:\nguardloop:x:${gid}:\n`, 0o644);
}
