import { join } from "node:path";
import type { RunSpec, SetupSpec } from "../../core/run-spec.ts";
import type { RunPaths } from "../paths.ts";

/** Where what a repository's setup phases made is kept; no run's own. */
export interface SetupPlace {
  readonly root: string;
  readonly results: string;
  readonly caches: string;
}

export function setupPlace(setups: string, repositoryId: string): SetupPlace {
  const root = join(setups, repositoryId);
  return { root, results: join(root, "results"), caches: join(root, "caches") };
}

/** A finished result. It is made beside, under another name, and then renamed as one step. */
export function resultDirectory(place: SetupPlace, { key }: Pick<SetupSpec, "key">): string {
  return join(place.results, key);
}

/** What a result is called until it is finished; there is one maker at a time. */
export const DRAFT_END = ".new";

/** The directory on the host of a cache that is named by its place below HOME. */
export function cacheDirectory(place: SetupPlace, name: string): string {
  // No setting allows a plus sign in a name.
  return join(place.caches, name.replaceAll("/", "+"));
}

/** The lock that whoever writes below the place holds, and whoever removes from it. */
export function setupLock(stateDir: string, repositoryId: string): string {
  return join(stateDir, "locks", `setup-${repositoryId}`);
}

export function placeOf(paths: RunPaths, { repository }: Pick<RunSpec, "repository">): SetupPlace {
  return setupPlace(paths.setups, repository.id);
}
