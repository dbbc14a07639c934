import { type Failure, fail } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import { takeLock } from "../../files/lock-file.ts";
import { ownerOf } from "../../process/owner.ts";
import type { RunServices } from "../services.ts";

/** Works on a run that has ended, one command at a time; recovery leaves the run alone meanwhile. */
export async function whileBusy<T>(
  services: RunServices,
  runId: string,
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const lock = await takeLock(services.paths.busy, ownerOf(process.pid, services.env.hostname));
  if ("heldBy" in lock)
    return fail(
      "repository-busy",
      `Another guardloop command (process ${lock.heldBy}) is working on run ${runId}.`,
    );
  await using held = lock;
  const done = await act();
  // Named so that the lock is seen to be held until here.
  void held;
  return done;
}
