import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type HeldLock, takeLock } from "../files/lock-file.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
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

export interface Waiting {
  /** Of the lock; its directory is made. */
  readonly path: string;
  readonly pollMs: number;
  readonly signal: AbortSignal;
  /** Completes the sentence "The run was interrupted while it waited for …". */
  readonly waitsFor: string;
  /** Told once, when somebody else holds it. */
  readonly onWait?: (heldBy: number) => void;
}

/** Waits for a lock that one living process can hold. An interrupt ends the waiting. */
export async function waitForLock(
  env: HostEnvironment,
  { path, pollMs, signal, waitsFor, onWait }: Waiting,
): Promise<Result<HeldLock, Failure>> {
  await ensurePrivateDirectory(dirname(path));
  for (let isFirstLook = true; ; isFirstLook = false) {
    const lock = await takeLock(path, ownerOf(process.pid, env.hostname));
    if (!("heldBy" in lock)) return ok(lock);
    if (signal.aborted)
      return fail("interrupted", `The run was interrupted while it waited for ${waitsFor}.`);
    if (isFirstLook) onWait?.(lock.heldBy);
    await delay(pollMs, undefined, { signal }).catch(() => undefined);
  }
}
