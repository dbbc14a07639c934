import { join } from "node:path";
import { mayBeAlive } from "../../process/owner.ts";
import { explainOwnership, ownership } from "../sighting.ts";
import type { Pool } from "./pool.ts";
import { recordsOf } from "./record.ts";
import { MAX_SLOTS, type Slot, existingSlots } from "./slots.ts";

const NEARLY_FULL = MAX_SLOTS - 8;

/** What is wrong with the pool and what to do, a sentence each. Changes nothing. */
export async function inspect(pool: Pool): Promise<readonly string[]> {
  const sentences: string[] = [];
  let leased = 0;
  for (const slot of await existingSlots(pool.root)) {
    const { records, unreadable } = await recordsOf(slot);
    if (records.length + unreadable.length > 0) leased += 1;
    for (const path of unreadable)
      sentences.push(`${path} is not a lease record and keeps its slot taken; delete that file.`);
    const dead = records.find((record) => !mayBeAlive(record.owner, pool.host));
    if (dead !== undefined)
      sentences.push(
        `Slot ${slot.number} of the pool is leased by ${dead.holder}, whose process is gone; run \`guardloop recover\`.`,
      );
    sentences.push(...(await damage(pool, slot, records.length > 0 ? "leased" : "free")));
  }
  if (leased >= NEARLY_FULL)
    sentences.push(
      `${leased} of the ${MAX_SLOTS} worktrees in ${pool.root} are leased; run \`guardloop recover\` to return those of dead runs.`,
    );
  return sentences;
}

async function damage(
  pool: Pool,
  slot: Slot,
  state: "leased" | "free",
): Promise<readonly string[]> {
  const path = join(slot.directory, pool.worktree);
  const owner = await ownership(pool.git, path, pool.commonDir);
  // A free slot without a worktree is an empty place, and one that is being leased has none yet.
  if (owner === "ours" || owner === "absent") return [];
  const what = `The worktree ${path} ${explainOwnership(owner)}`;
  return state === "free"
    ? [`${what}; the next lease of its slot makes it anew, there is nothing to do.`]
    : [`${what} although it is leased; end that run, then run \`guardloop recover\`.`];
}
