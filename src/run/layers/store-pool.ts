import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { type GitMaker, initBare, isAncestor, packReachable } from "../../git/base-store.ts";
import type { Git } from "../../git/git.ts";
import { type Slot, type SlotPool, fillSlot, newSlot, slotsOf, useSlot } from "./slots.ts";

/** Histories that are kept beside each other, as for branches that have gone different ways. */
const MOST_STORES = 4;
/** Each move adds a pack; with more of them than this all is packed anew. */
const MOST_PACKS = 40;

const STATE = z.object({ version: z.literal(1), commit: z.string(), packs: z.number() });
type StoreState = z.infer<typeof STATE>;

function poolOf(directory: string): SlotPool<StoreState> {
  return {
    directory: join(directory, "stores"),
    parse: (value) => STATE.safeParse(value).data,
  };
}

export interface StoreRequest {
  readonly maker: GitMaker;
  /** Of the repository's layers, whose lock the caller holds. */
  readonly directory: string;
  /** The user's repository. */
  readonly source: Git;
  /** The commit that a container is to have with its history. */
  readonly base: string;
  /** Where the user's branch is: histories are kept for what can be reached from it, never for an agent's branch. */
  readonly kept: string;
  /** See `useSlot`. */
  readonly holder: string;
  /** A bare repository of the run's own, for what no kept store has. */
  readonly own: string;
  /** Where the container will see a kept store that the own one borrows from. */
  readonly seedInContainer: string;
}

export interface BaseStores {
  /** Bare repository that the container's snapshot borrows its objects from. */
  readonly store: string;
  /** Another one that `store` borrows from; null when it needs none. */
  readonly seed: string | null;
}

/**
 * Objects for a snapshot: nothing but what can be reached from its base. A store that is kept for the repository is moved
 * on by difference while nobody uses it. Where the base lies beyond, as in a stack, only what is new is packed for the run.
 */
export async function provideStores(request: StoreRequest): Promise<Result<BaseStores, Failure>> {
  const { base, kept, source } = request;
  const seedCommit = (await isAncestor(source, kept, base)) ? kept : base;
  const seed =
    seedCommit === kept ? await keptStore(request, seedCommit) : await olderStore(request);
  if (!seed.ok) return seed;
  if (seed.value?.commit === base) return ok({ store: seed.value.directory, seed: null });
  const made = await ownStore(request, seed.value?.commit);
  return made.ok ? ok({ store: request.own, seed: seed.value?.directory ?? null }) : made;
}

interface KeptStore {
  readonly directory: string;
  readonly commit: string;
}

function bareOf(slot: Slot<unknown>): string {
  return join(slot.directory, "base.git");
}

/** A store with exactly the commit's history; undefined where all are in use with another one. */
async function keptStore(
  request: StoreRequest,
  commit: string,
): Promise<Result<KeptStore | undefined, Failure>> {
  const pool = poolOf(request.directory);
  const slots = await slotsOf(pool);
  const same = slots.find(({ state }) => state?.commit === commit);
  if (same !== undefined) {
    await useSlot(same, request.holder);
    return ok({ directory: bareOf(same), commit });
  }
  const idle = slots
    .filter(({ use }) => use === "idle")
    .toSorted((a, b) => b.lastTaken - a.lastTaken);
  for (const slot of idle) {
    const { state } = slot;
    if (state === undefined || state.packs >= MOST_PACKS) continue;
    if (!(await isAncestor(request.source, state.commit, commit))) continue;
    return moveOn(request, { ...slot, state }, commit);
  }
  const free = slots.length < MOST_STORES ? newSlot(pool, slots) : idle.at(-1);
  return free === undefined ? ok(undefined) : fillAnew(request, free, commit);
}

async function moveOn(
  request: StoreRequest,
  slot: Slot<StoreState> & { readonly state: StoreState },
  commit: string,
): Promise<Result<KeptStore, Failure>> {
  const { state } = slot;
  const directory = bareOf(slot);
  const filled = await fillSlot(slot, request.holder, async () => {
    const reachable = { storeDir: directory, from: commit, butNot: state.commit };
    const packed = await packReachable(request.source, reachable);
    return packed.ok ? ok<StoreState>({ version: 1, commit, packs: state.packs + 1 }) : packed;
  });
  return filled.ok ? ok({ directory, commit }) : filled;
}

async function fillAnew(
  request: StoreRequest,
  slot: Slot<StoreState>,
  commit: string,
): Promise<Result<KeptStore, Failure>> {
  const directory = bareOf(slot);
  const filled = await fillSlot(slot, request.holder, async () => {
    await removeTree(directory);
    const made = await initBare(request.maker, directory);
    if (!made.ok) return made;
    const packed = await packReachable(request.source, { storeDir: directory, from: commit });
    return packed.ok ? ok<StoreState>({ version: 1, commit, packs: 1 }) : packed;
  });
  return filled.ok ? ok({ directory, commit }) : filled;
}

/** For a base that the user's branch has left behind: a store as old as it is or older, in use or not. */
async function olderStore(request: StoreRequest): Promise<Result<KeptStore | undefined, Failure>> {
  for (const slot of await slotsOf(poolOf(request.directory))) {
    const commit = slot.state?.commit;
    if (commit === undefined || !(await isAncestor(request.source, commit, request.base))) continue;
    await useSlot(slot, request.holder);
    return ok({ directory: bareOf(slot), commit });
  }
  return ok(undefined);
}

async function ownStore(
  { maker, source, own, base, seedInContainer }: StoreRequest,
  butNot: string | undefined,
): Promise<Result<void, Failure>> {
  const made = await initBare(maker, own);
  if (!made.ok) return made;
  const alternates = butNot === undefined ? "" : `${seedInContainer}/objects\n`;
  await writeFile(join(own, "objects/info/alternates"), alternates);
  return packReachable(source, { storeDir: own, from: base, butNot });
}
