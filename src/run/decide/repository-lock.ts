import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { whileLocked } from "../locked.ts";

/** Runs something that changes the principal checkout or its branches, one process at a time. */
export async function withRepositoryLock<T>(
  env: HostEnvironment,
  repositoryId: string,
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const directory = join(env.stateDir, "locks");
  await ensurePrivateDirectory(directory);
  const lock = { path: join(directory, repositoryId), doing: "changing this repository" };
  return whileLocked(env, lock, act);
}
