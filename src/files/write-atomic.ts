import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isRunning } from "../process/owner.ts";

/**
 * Replaces a file as one step that survives a crash: afterwards it holds the old bytes or the new ones.
 * May be called again after a crash, and by two processes at once: the last one wins, and neither takes the other's
 * unfinished file. One that a crash leaves is read by nobody.
 */
export async function writeAtomic(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, "w", mode);
    try {
      await handle.chmod(mode);
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    // A full disk must not be left fuller.
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Whether a name is that of an unfinished file whose writer is gone. */
export function isAbandoned(name: string): boolean {
  const writer = /\.(\d{1,10})\.tmp$/.exec(name)?.[1];
  return writer !== undefined && !isRunning(Number(writer));
}

/** Makes a rename or a new file in the directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
