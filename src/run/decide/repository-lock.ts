import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import { type Failure, fail } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import { takeLock } from "../../files/lock-file.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { ownerOf } from "../../process/owner.ts";

/** Runs something that changes the principal checkout or its branches, one process at a time. */
export async function withRepositoryLock<T>(
  env: HostEnvironment,
  repositoryId: string,
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const directory = join(env.stateDir, "locks");
  await ensurePrivateDirectory(directory);
  const lock = await takeLock(join(directory, repositoryId), ownerOf(process.pid, env.hostname));
  if ("heldBy" in lock)
    return fail(
      "repository-busy",
      `Another guardloop command (process ${lock.heldBy}) is changing this repository.`,
    );
  await using held = lock;
  const done = await act();
  // Named so that the lock is seen to be held until here.
  void held;
  return done;
}
