import { join } from "node:path";
import { errnoOf } from "../../core/errno.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { whileLocked } from "../locked.ts";
import type { HouseItem } from "./item.ts";
import type { HouseServices } from "./services.ts";

export interface Cleaning {
  readonly removed: readonly HouseItem[];
  /** In use or worth something by the time it was its turn. */
  readonly spared: readonly HouseItem[];
  /** A sentence for each that could not be removed. */
  readonly problems: readonly string[];
  /** Items that were not reached before the signal. */
  readonly left: number;
}

/**
 * Removes what a survey found, one after another, one process at a time. Each is judged again under its own locks.
 *
 * @param signal when it is aborted, what is under way is ended and the rest is left for the next time.
 * @returns `repository-busy` while another process does the same.
 */
export async function clean(
  services: Pick<HouseServices, "env">,
  items: readonly HouseItem[],
  signal: AbortSignal,
): Promise<Result<Cleaning, Failure>> {
  const locks = join(services.env.stateDir, "locks");
  await ensurePrivateDirectory(locks);
  const lock = { path: join(locks, "gc"), doing: "keeping house already" };
  return whileLocked(services.env, lock, async () => ok(await removeAll(items, signal)));
}

async function removeAll(items: readonly HouseItem[], signal: AbortSignal): Promise<Cleaning> {
  const removed: HouseItem[] = [];
  const spared: HouseItem[] = [];
  const problems: string[] = [];
  let left = 0;
  for (const item of items) {
    if (signal.aborted) {
      left += 1;
      continue;
    }
    const done = await removeOne(item);
    if (!done.ok) problems.push(`${item.what}: ${done.error}`);
    else (done.value === "removed" ? removed : spared).push(item);
  }
  return { removed, spared, problems, left };
}

/** A file system that refuses is an expected end of a removal, and no reason to leave the rest. */
async function removeOne(
  item: HouseItem,
): Promise<{ ok: true; value: "removed" | "kept" } | { ok: false; error: string }> {
  try {
    const done = await item.remove();
    return done.ok ? done : { ok: false, error: done.error.message };
  } catch (error) {
    const code = errnoOf(error);
    if (code === "unknown") throw error;
    return { ok: false, error: `it could not be removed (${code}).` };
  }
}
