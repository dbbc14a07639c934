import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import {
  SOCKET_NAMES,
  type SocketPlace,
  listSocketDirectories,
  removeSockets,
  socketDirectory,
} from "../../gateway/socket-place.ts";
import { stateId } from "../paths.ts";

type Places = { readonly env: HostEnvironment };

/** Where a run's sockets are, and the one of the proxy in there. The directory is made. */
export async function socketsOf(
  { env }: Places,
  runId: string,
): Promise<Result<{ readonly directory: string; readonly proxy: string }, Failure>> {
  const directory = await socketDirectory(placeOf(env), runId);
  if (!directory.ok) return directory;
  return ok({ directory: directory.value, proxy: join(directory.value, SOCKET_NAMES.proxy) });
}

/** Removes the sockets of runs that nobody works on; a process that was killed leaves them. May be called again. */
export async function removeOrphanSockets(
  { env }: Places,
  isAtWork: (runId: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { runId, directory } of await listSocketDirectories(placeOf(env))) {
    if (await isAtWork(runId)) continue;
    await removeSockets(directory);
    removed.push(`Removed the sockets that the gateway of run ${runId} had left.`);
  }
  return removed;
}

function placeOf(env: HostEnvironment): SocketPlace {
  const { runtimeDir, tempDir } = env;
  const uid = process.getuid?.() ?? 0;
  return { runtimeDir, tempDir, uid, stateId: stateId(env.stateDir) };
}
