import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { writeAtomic } from "../../files/write-atomic.ts";

/** Nothing becomes old so fast that looking again sooner would be worth the time of every run. */
const PAUSE_MS = 60 * 60_000;

interface LastTime {
  readonly repositoryId: string;
  /** What was in force; with other times of retention it is worth looking again at once. */
  readonly retention: object;
  readonly now: Date;
}

/** Whether automatic retention has looked at this repository in the last hour, with the same settings. */
export async function lookedLately(stateDir: string, at: LastTime): Promise<boolean> {
  try {
    // Our own file; whatever else is in it only means looking again.
    const text = await readFile(pathOf(stateDir, at.repositoryId), "utf8");
    const agoMs = at.now.getTime() - Date.parse(text.slice(0, text.indexOf("\n")));
    return agoMs >= 0 && agoMs < PAUSE_MS && text.slice(text.indexOf("\n") + 1) === settingsOf(at);
  } catch {
    return false;
  }
}

/** Remembers that it has looked now. */
export async function looked(stateDir: string, at: LastTime): Promise<void> {
  await ensurePrivateDirectory(join(stateDir, "house"));
  const text = `${at.now.toISOString()}\n${settingsOf(at)}`;
  await writeAtomic(pathOf(stateDir, at.repositoryId), text);
}

function settingsOf({ retention }: LastTime): string {
  return `${JSON.stringify(retention, (_, value: unknown) => (value === Infinity ? "never" : value))}\n`;
}

function pathOf(stateDir: string, repositoryId: string): string {
  return join(stateDir, "house", repositoryId);
}
