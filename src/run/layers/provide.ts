import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import type { SnapshotMethod } from "../../core/run-spec.ts";
import { type Result, ok } from "../../core/result.ts";
import type { FileOwner } from "../../files/ownership.ts";
import { IN_CONTAINER } from "../paths.ts";
import type { RunServices } from "../services.ts";
import type { Layers } from "./layers.ts";
import { layersPlace } from "./layers-place.ts";
import { provideStores } from "./store-pool.ts";
import { withLayersLock } from "./with-layers-lock.ts";
import { type ProvidedTree, provideTree } from "./tree-pool.ts";

export interface LayersRequest {
  readonly base: string;
  /** Where the user's branch is: histories are kept for what can be reached from it, never for an agent's branch. */
  readonly kept: string;
  readonly owner: FileOwner;
  readonly method: SnapshotMethod;
  /** What the container will write to: a directory that is there now, and goes with the snapshot. */
  readonly workspace: string;
  /** Bare repository for objects that no kept store has. */
  readonly ownStore: string;
}

export interface ProvidedLayers {
  readonly layers: Layers;
  /** The base's files, to lie under what the container writes or to be cloned; undefined where all are to be written. */
  readonly tree: ProvidedTree | undefined;
}

/**
 * What a snapshot lies on, of what is kept for the repository: its objects, and unless all are to be copied, its files. Used
 * from now on for as long as the snapshot's work tree is there. One process at a time works for a repository; another
 * one waits, and then takes what the first has made. May be called again after a crash.
 */
export async function provideLayers(
  services: RunServices,
  request: LayersRequest,
): Promise<Result<ProvidedLayers, Failure>> {
  const { env, principal } = services;
  const directory = layersPlace(env.stateDir, principal.repositoryId);
  return withLayersLock(services, () => provideInTurn(services, request, directory));
}

async function provideInTurn(
  { gitProgram: program, env, principal }: RunServices,
  request: LayersRequest,
  directory: string,
): Promise<Result<ProvidedLayers, Failure>> {
  const { base, kept, owner, workspace: holder, method } = request;
  const stores = await provideStores({
    maker: { program, env },
    directory,
    source: principal.git,
    base,
    kept,
    holder,
    own: request.ownStore,
    seedInContainer: IN_CONTAINER.seed,
  });
  if (!stores.ok) return stores;
  const { store, seed } = stores.value;
  const whole: Layers = { version: 1, store, seed, lower: null };
  if (method === "copy") return ok({ layers: whole, tree: undefined });
  const objectsDir = join(principal.commonDir, "objects");
  const tree = await provideTree({
    program,
    env,
    objectsDir,
    owner,
    directory,
    commit: base,
    holder,
  });
  if (!tree.ok) return tree;
  if (tree.value === undefined) return ok({ layers: whole, tree: undefined });
  const lower: Layers["lower"] = method === "overlay" ? [tree.value.files] : null;
  return ok({ layers: { ...whole, lower }, tree: tree.value });
}
