import { chmod, lstat, opendir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Removes a directory that a container may have filled, following no link. An agent can take the write permission
 * from its own directories (Go's module cache does), so on refusal they are made writable and removed again.
 * May be called again; a path that is not there is fine.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 2 });
  } catch {
    await makeDirectoriesWritable(path);
    await rm(path, { recursive: true, force: true, maxRetries: 2 });
  }
}

async function makeDirectoriesWritable(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isDirectory() !== true) return;
  await chmod(path, 0o700);
  for await (const entry of await opendir(path)) {
    if (entry.isDirectory()) await makeDirectoriesWritable(join(path, entry.name));
  }
}
