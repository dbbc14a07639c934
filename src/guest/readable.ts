import { chmodSync, lstatSync, readdirSync } from "node:fs";

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
export function makeReadable(workspace: string): number {
  let failed = 0;
  let entries = 0;
  const waiting: Buffer[] = [Buffer.from(workspace)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const directory = next;
    if (!grant(directory, OWNER_ALL)) failed += 1;
    for (const entry of list(directory)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return failed + 1;
      const path = Buffer.concat([directory, Buffer.from("/"), entry.name]);
      if (entry.isDirectory() && entry.name.toString("latin1") !== ".git") waiting.push(path);
      else if (entry.isFile() && !grant(path, OWNER_READ)) failed += 1;
    }
  }
  return failed;
}

function list(directory: Buffer) {
  try {
    return readdirSync(directory, { withFileTypes: true, encoding: "buffer" });
  } catch {
    return [];
  }
}

function grant(path: Buffer, bits: number): boolean {
  try {
    const { mode } = lstatSync(path);
    if ((mode & bits) !== bits) chmodSync(path, (mode & 0o7777) | bits);
    return true;
  } catch {
    return false;
  }
}
