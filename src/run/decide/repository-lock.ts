import { dirname, join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { whileLocked } from "../locked.ts";
import { runPaths } from "../paths.ts";
import type { DecisionServices } from "./decision.ts";
import { type Settled, settle } from "./settle.ts";

/** Decides under the repository's lock, after what a crash left open is settled and cleared away; the act is told what that was. */
export function whileDeciding<T>(
  services: DecisionServices,
  act: (settled: readonly Settled[]) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const { env, principal } = services;
  return withRepositoryLock(env, principal.repositoryId, async () => {
    const settled = await settle(services);
    for (const { run } of settled) await removeTree(runPaths(env.stateDir, run.id).landing);
    return act(settled);
  });
}

/** Runs something that changes the principal checkout or its branches, one process at a time. */
export async function withRepositoryLock<T>(
  env: HostEnvironment,
  repositoryId: string,
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const path = repositoryLock(env, repositoryId);
  await ensurePrivateDirectory(dirname(path));
  return whileLocked(env, { path, doing: "changing this repository" }, act);
}

/** The file that is there while the lock is held. */
export function repositoryLock(env: HostEnvironment, repositoryId: string): string {
  return join(env.stateDir, "locks", repositoryId);
}
