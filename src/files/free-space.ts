import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "../core/errno.ts";

/**
 * Bytes that are free for this user on the file system of a path, as statfs(2) tells. A path that is not there yet
 * counts as the nearest directory above it that is.
 *
 * @returns undefined when the file system does not tell.
 */
export async function freeSpaceBytes(path: string): Promise<number | undefined> {
  for (let here = path; ; here = dirname(here)) {
    try {
      const { bavail, bsize } = await statfs(here);
      return bavail * bsize;
    } catch (error) {
      if (!["ENOENT", "ENOTDIR"].includes(errnoOf(error)) || dirname(here) === here)
        return undefined;
    }
  }
}
