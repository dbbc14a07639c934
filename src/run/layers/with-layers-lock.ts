import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { waitForLock } from "../locked.ts";
import type { RunServices } from "../services.ts";
import { layersLock, layersPlace } from "./layers-place.ts";

const POLL_MS = 25;

/** Acts on what is kept for the repository while no other process does; it is waited for. */
export async function withLayersLock<T>(
  { env, principal, signal }: RunServices,
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const { repositoryId } = principal;
  await ensurePrivateDirectory(layersPlace(env.stateDir, repositoryId));
  const lock = await waitForLock(env, {
    path: layersLock(env.stateDir, repositoryId),
    pollMs: POLL_MS,
    signal,
    waitsFor: "another run's snapshot",
  });
  if (!lock.ok) return lock;
  await using held = lock.value;
  const done = await act();
  // Named so that the lock is seen to be held until here.
  void held;
  return done;
}
