import { chmod, lstat, readdir } from "node:fs/promises";

const OWNER_READ = 0o400;
const OWNER_ALL = 0o700;
const MAX_ENTRIES = 5_000_000;

/**
 * Gives the owner, that is us, back the right to read every file and to enter every directory of the workspace.
 * Follows no link; leaves the workspace's own .git alone. Git records only whether a file is executable, so
 * this changes nothing that is exported.
 *
 * @returns how many entries could not be opened up.
 */
export async function makeReadable(workspace: string): Promise<number> {
  let failed = 0;
  let entries = 0;
  const waiting: Buffer[] = [Buffer.from(workspace)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const directory = next;
    if (!(await grant(directory, OWNER_ALL))) failed += 1;
    for (const entry of await list(directory)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return failed + 1;
      const path = Buffer.concat([directory, Buffer.from("/"), entry.name]);
      if (entry.isDirectory() && entry.name.toString("latin1") !== ".git") waiting.push(path);
      else if (entry.isFile() && !(await grant(path, OWNER_READ))) failed += 1;
    }
  }
  return failed;
}

async function list(directory: Buffer) {
  try {
    return await readdir(directory, { withFileTypes: true, encoding: "buffer" });
  } catch {
    return [];
  }
}

async function grant(path: Buffer, bits: number): Promise<boolean> {
  try {
    const { mode } = await lstat(path);
    if ((mode & bits) !== bits) await chmod(path, (mode & 0o7777) | bits);
    return true;
  } catch {
    return false;
  }
}
