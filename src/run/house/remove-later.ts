import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { holdAtMost } from "../../files/few-entries.ts";
import { isHeld } from "../../files/lock-file.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { emptyTrash, setAside, trashContent, trashLock } from "../../files/trash.ts";
import { startDetached } from "../../process/detached.ts";
import { ownerOf } from "../../process/owner.ts";
import type { RunServices } from "../services.ts";

type RemovalServices = Pick<RunServices, "env" | "remover">;

/** Fewer than these are removed in the time that it takes to start a process. */
const FEW_ENTRIES = 500;
const POLL_MS = 50;

/**
 * Removes directories that a container may have filled, of a container that is proven gone. Afterwards none is in its
 * place. Few files are gone then, too; many are moved into the trash and go in the background, by a process that outlives
 * this command. May be called again after a crash at any point: what a killed one left is in its place, or in the trash,
 * where the next command that removes something, `recover` and `gc` find it. Paths that are not there are fine.
 */
export async function removeLater(
  services: RemovalServices,
  paths: readonly string[],
): Promise<void> {
  if (holdAtMost(paths, FEW_ENTRIES)) await removeFew(paths);
  else if (services.remover === undefined) for (const path of paths) await removeTree(path);
  else {
    for (const path of paths) await moveAway(services, path);
    await startRemover(services);
  }
}

/** The work tree first, as always: an export that is whole is not taken for one that has to be made again from half of it. */
async function removeFew([first, ...others]: readonly string[]): Promise<void> {
  if (first !== undefined) await removeTree(first);
  await Promise.all(others.map(removeTree));
}

/** Goes on with what is still in the trash: few files at once, many in the background. */
export async function resumeRemoval(services: RemovalServices): Promise<void> {
  const { waiting } = await trashContent(services.env.stateDir);
  if (waiting.length === 0) return;
  if (services.remover === undefined || holdAtMost(waiting, FEW_ENTRIES))
    await emptyNow(services.env);
  else await startRemover(services);
}

/** For a disk that is low: removes what waits in the trash, or waits for who is at it already, and says so. */
export async function roomFromTrash({
  env,
  signal,
  report,
}: Pick<RunServices, "env" | "signal" | "report">): Promise<"look again" | "no more room"> {
  const { waiting } = await trashContent(env.stateDir);
  if (waiting.length === 0) return "no more room";
  const text = "The disk is low; waiting until what earlier runs left is removed.";
  report({ type: "notice", runId: null, text });
  while (!signal.aborted && (await emptyNow(env)) === "busy")
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  return "look again";
}

async function emptyNow(env: RemovalServices["env"]): Promise<"emptied" | "busy"> {
  await ensurePrivateDirectory(join(env.stateDir, "locks"));
  return emptyTrash(env.stateDir, ownerOf(process.pid, env.hostname));
}

/** One that is at work looks again before it ends, so it is enough that there is one; see `emptyTrash`. */
async function startRemover({ env, remover }: RemovalServices): Promise<void> {
  if (remover === undefined) return;
  await ensurePrivateDirectory(join(env.stateDir, "locks"));
  if (await isHeld(trashLock(env.stateDir), env.hostname)) return;
  startDetached([process.execPath, remover, env.stateDir, env.hostname]);
}

/** Where it cannot be moved, for example onto a disk that is full, it is removed in its place. */
async function moveAway({ env }: RemovalServices, path: string): Promise<void> {
  await setAside(env.stateDir, path).catch(() => removeTree(path));
}
