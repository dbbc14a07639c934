import { chmod, lstat, mkdir } from "node:fs/promises";

/**
 * Makes a directory that only its owner can enter (0700), with its parents. May be called again.
 *
 * @throws when the path exists and is a symbolic link or not a directory: a link could send our records elsewhere.
 */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const stat = await lstat(path);
  if (!stat.isDirectory()) throw new Error(`${path} is not a directory`);
  if ((stat.mode & 0o077) !== 0) await chmod(path, 0o700);
}
