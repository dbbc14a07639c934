import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { trashLock } from "../../src/files/trash.ts";
import { ownerOf } from "../../src/process/owner.ts";
import { quiet } from "./effects.ts";
import type { World } from "./world.ts";

/** Leaves more files in its workspace than are removed at once. */
export const MANY_FILES = `mkdir many; for d in 1 2 3 4 5 6; do mkdir many/$d; (cd many/$d; touch $(seq 1 200)); done; printf 'many\\n' >> .git/info/exclude\n`;

/** Names in the trash; those that could not be removed end in `.stuck`. */
export function trash(world: World): readonly string[] {
  try {
    return readdirSync(join(world.state, "trash"));
  } catch {
    return [];
  }
}

/** Waits for what removes in the background, which then has to have left nothing. */
export async function removedInBackground(world: World): Promise<void> {
  await quiet(world);
  expect(trash(world)).toEqual([]);
}

/** Makes this process the one that empties the trash, which it never does: whatever is put there stays. */
export function holdingTrash(world: World, owner = ownerOf(process.pid, hostname())) {
  const lock = trashLock(world.state);
  mkdirSync(join(world.state, "locks"), { recursive: true, mode: 0o700 });
  writeFileSync(lock, JSON.stringify(owner), { mode: 0o600 });
  return { [Symbol.dispose]: () => rmSync(lock, { force: true }) };
}
