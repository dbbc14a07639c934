import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** Sum of the sizes of all files below a directory, following no link. Entries that vanish meanwhile count as 0. */
export async function treeSizeBytes(path: string): Promise<number> {
  let sum = 0;
  const directory = await opendir(path).catch(() => undefined);
  if (directory === undefined) return 0;
  for await (const entry of directory) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) sum += await treeSizeBytes(child);
    else sum += (await lstat(child).catch(() => undefined))?.size ?? 0;
  }
  return sum;
}
