import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { type FileOwner, giveTo } from "../../files/ownership.ts";
import { cloneTree } from "../../files/clone-tree.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { type BaseTree, settle, writeTree } from "../../git/base-tree.ts";
import { copyIndex, writeGitDirectory } from "../../git/snapshot-repository.ts";
import type { Layers } from "../layers/layers.ts";
import { type LayersRequest, provideLayers } from "../layers/provide.ts";
import type { ProvidedTree } from "../layers/tree-pool.ts";
import { IN_CONTAINER } from "../paths.ts";
import type { RunServices } from "../services.ts";
import type { WorkTree } from "./work-tree.ts";

/** Where a throwaway repository comes to be; all of it goes when it is no longer needed. */
export interface ThrowawayPlaces {
  /** What the container writes to. */
  readonly workspace: string;
  /** The overlay's work directory: of the same file system, and nobody's but the kernel's. */
  readonly overlayWork: string;
  /** Bare repository for objects that no kept store has. */
  readonly store: string;
  /** Index of the base; the guest starts from a copy of it. */
  readonly index: string;
}

export interface ThrowawayRequest<T> extends Pick<
  LayersRequest,
  "base" | "kept" | "owner" | "method"
> {
  readonly places: ThrowawayPlaces;
  /** Name of the branch the snapshot is on. */
  readonly branch: string;
  /** Puts files into the work tree that Git does not track, or names layers that have them. */
  readonly addUntracked: (tree: WorkTree) => Promise<Result<T, Failure>>;
}

/** What came into a work tree besides the base. */
export interface Added {
  /** Of files that Git is not to see. */
  readonly paths: readonly string[];
  /** Layers to lie under those of the work tree, uppermost first; only where it has any. */
  readonly under: readonly string[];
}

export interface Throwaway<T> {
  readonly added: T;
  readonly layers: Layers;
}

/**
 * Makes a throwaway repository at a commit, owned by the container's user: over layers that are kept for the repository, or
 * with all files in a directory of its own. Nothing is there of it yet, or what a crash left.
 */
export async function makeThrowaway<T extends Added>(
  services: RunServices,
  request: ThrowawayRequest<T>,
): Promise<Result<Throwaway<T>, Failure>> {
  const { places, owner } = request;
  const { workspace } = places;
  await mkdir(workspace, { recursive: true });
  // It is what the container sees as the top of its work tree.
  await chmod(workspace, 0o755);
  const provided = await provideLayers(services, {
    ...request,
    workspace,
    ownStore: places.store,
  });
  if (!provided.ok) return provided;
  const { layers, tree } = provided.value;
  const filled = await fill(services, request, tree);
  if (!filled.ok) return filled;
  const added = await request.addUntracked({ top: workspace, under: layers.lower ?? [] });
  if (!added.ok) return added;
  const repository = {
    workspaceDir: workspace,
    indexFile: places.index,
    base: request.base,
    branch: request.branch,
    storeInContainer: IN_CONTAINER.store,
  };
  await writeGitDirectory(repository, added.value.paths);
  giveTo(workspace, owner);
  const lower = layers.lower && [...layers.lower, ...added.value.under];
  return ok({ added: added.value, layers: { ...layers, lower } });
}

/** The base's files and their index, as the method says; all of them written where there is no tree to take them from. */
async function fill(
  services: RunServices,
  request: Pick<ThrowawayRequest<unknown>, "places" | "base" | "owner" | "method">,
  tree: ProvidedTree | undefined,
): Promise<Result<void, Failure>> {
  const { places, base } = request;
  if (tree === undefined) return withTree(services, request, (own) => writeTree(own, base));
  await copyIndex(tree.index, places.index);
  if (request.method === "overlay") {
    await mkdir(places.overlayWork);
    return ok(undefined);
  }
  cloneTree(tree.files, places.workspace);
  return withTree(services, request, settle);
}

/** Acts on the snapshot's own files as on a base's. */
async function withTree(
  { gitProgram, env, principal }: RunServices,
  { places, owner }: Pick<ThrowawayRequest<unknown>, "places" | "owner">,
  act: (tree: BaseTree) => Promise<Result<void, Failure>>,
): Promise<Result<void, Failure>> {
  const gitDir = `${places.workspace}.git`;
  const tree: BaseTree = {
    program: gitProgram,
    env,
    files: places.workspace,
    index: places.index,
    gitDir,
    objectsDir: join(principal.commonDir, "objects"),
    owner,
  };
  try {
    return await act(tree);
  } finally {
    await removeTree(gitDir);
  }
}

/** A passwd and a group with the container's user, so that programs find one. */
export async function writeAccounts(directory: string, { uid, gid }: FileOwner): Promise<void> {
  const passwd = [
    "root:x:0:0:root:/:/sbin/nologin",
    `guardloop:x:${uid}:${gid}:guardloop:${IN_CONTAINER.home}:/bin/sh`,
    "",
  ];
  await writeAtomic(join(directory, "passwd"), passwd.join("\n"), 0o644);
  await writeAtomic(join(directory, "group"), `root:x:0:\nguardloop:x:${gid}:\n`, 0o644);
}
