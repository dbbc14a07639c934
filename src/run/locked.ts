import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, fail } from "../core/failures.ts";
import type { Result } from "../core/result.ts";
import { takeLock } from "../files/lock-file.ts";
import { ownerOf } from "../process/owner.ts";

/**
 * Acts while holding a lock that one living process can hold. Does not wait: a held lock is `repository-busy`.
 *
 * @param doing completes the sentence "Another guardloop command is …".
 */
export async function whileLocked<T>(
  env: HostEnvironment,
  { path, doing }: { readonly path: string; readonly doing: string },
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const lock = await takeLock(path, ownerOf(process.pid, env.hostname));
  if ("heldBy" in lock)
    return fail(
      "repository-busy",
      `Another guardloop command (process ${lock.heldBy}) is ${doing}.`,
    );
  await using held = lock;
  const done = await act();
  // Named so that the lock is seen to be held until here.
  void held;
  return done;
}
