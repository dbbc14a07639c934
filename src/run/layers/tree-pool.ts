import { join } from "node:path";
import { z } from "zod";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { type BaseTree, isWhole, moveTree, rewriteTree } from "../../git/base-tree.ts";
import type { FileOwner } from "../../files/ownership.ts";
import { bootId } from "../../process/owner.ts";
import { type Slot, type SlotPool, fillSlot, newSlot, slotsOf, useSlot } from "./slots.ts";

/** Each takes as much of the disk as a checkout. More than one is needed where runs have different bases at a time. */
const MOST_TREES = 8;

const STATE = z.object({
  version: z.literal(1),
  commit: z.string(),
  uid: z.number(),
  gid: z.number(),
  /** The start of the machine since which nothing can have been lost of what was written. */
  boot: z.string(),
});
type TreeState = z.infer<typeof STATE>;

function poolOf(directory: string): SlotPool<TreeState> {
  return {
    directory: join(directory, "trees"),
    parse: (value) => STATE.safeParse(value).data,
  };
}

export interface TreeRequest extends Pick<BaseTree, "program" | "env" | "objectsDir"> {
  readonly owner: FileOwner;
  /** Of the repository's layers, whose lock the caller holds. */
  readonly directory: string;
  readonly commit: string;
  /** See `useSlot`. */
  readonly holder: string;
}

export type ProvidedTree = Pick<BaseTree, "files" | "index">;

/**
 * The files of a commit, to be the lower layer of a snapshot: a tree that has them already, else an idle one moved there
 * by difference, else a new one.
 *
 * @returns undefined where all are in use with other commits.
 */
export async function provideTree(
  request: TreeRequest,
): Promise<Result<ProvidedTree | undefined, Failure>> {
  const pool = poolOf(request.directory);
  const slots = await slotsOf(pool);
  const { commit, holder } = request;
  const same = slots.find(({ state }) => isFit(state, request) && state?.commit === commit);
  if (same !== undefined) {
    await useSlot(same, holder);
    return ok(provided(same));
  }
  // The one that was not taken for longest: what the others have will be wanted sooner.
  const idle = slots
    .filter(({ use }) => use === "idle")
    .toSorted((a, b) => a.lastTaken - b.lastTaken)[0];
  if (idle === undefined && slots.length >= MOST_TREES) return ok(undefined);
  const slot = idle ?? newSlot(pool, slots);
  const filled = await fillSlot(slot, holder, () => fill(request, slot));
  return filled.ok ? ok(provided(slot)) : filled;
}

function provided({ directory }: Slot<TreeState>): ProvidedTree {
  return { files: join(directory, "files"), index: join(directory, "index") };
}

function isFit(state: TreeState | undefined, { owner }: TreeRequest): boolean {
  return state?.uid === owner.uid && state.gid === owner.gid && state.boot === bootId();
}

async function fill(
  request: TreeRequest,
  slot: Slot<TreeState>,
): Promise<Result<TreeState, Failure>> {
  const { program, env, objectsDir, owner, commit } = request;
  const gitDir = join(slot.directory, "git");
  const tree: BaseTree = { program, env, objectsDir, owner, gitDir, ...provided(slot) };
  const { state } = slot;
  const { uid, gid } = owner;
  const now: TreeState = { version: 1, commit, uid, gid, boot: bootId() };
  if (state !== undefined && (await isUsable(tree, state, request))) {
    const moved = await moveTree(tree, { from: state.commit, to: commit });
    if (moved.ok) return ok(now);
    // Such as when the commit it is at is gone: then all is written.
  }
  const written = await rewriteTree(tree, commit);
  return written.ok ? ok(now) : written;
}

/** After a start of the machine nobody knows what of the files had reached the disk, so they are read once. */
async function isUsable(tree: BaseTree, state: TreeState, request: TreeRequest): Promise<boolean> {
  if (state.uid !== request.owner.uid || state.gid !== request.owner.gid) return false;
  return state.boot === bootId() || isWhole(tree, state.commit);
}
