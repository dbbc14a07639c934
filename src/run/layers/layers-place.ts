import { join } from "node:path";

/** Where what snapshots lie on is kept, over all runs of a repository. */
export function layersPlace(stateDir: string, repositoryId: string): string {
  return join(stateDir, "layers", repositoryId);
}

/** The lock that whoever takes or changes something below the place holds. */
export function layersLock(stateDir: string, repositoryId: string): string {
  return join(stateDir, "locks", `layers-${repositoryId}`);
}
