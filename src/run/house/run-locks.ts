import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import { withRepositoryLock } from "../decide/repository-lock.ts";
import { whileLocked } from "../locked.ts";
import { runPaths } from "../paths.ts";

/**
 * Acts while nobody can decide about a run and nobody can work on it: a promotion or rollback takes the repository's
 * lock, a validation, salvage or recovery the run's own. Does not wait.
 *
 * @returns `repository-busy` while either is held.
 */
export function whileNobodyWorksOn<T>(
  env: HostEnvironment,
  { runId, repositoryId }: { readonly runId: string; readonly repositoryId: string },
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const { busy } = runPaths(env.stateDir, runId);
  return withRepositoryLock(env, repositoryId, () =>
    whileLocked(env, { path: busy, doing: `working on run ${runId}` }, act),
  );
}
