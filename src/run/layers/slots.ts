import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { writeAtomic } from "../../files/write-atomic.ts";

const STATE = "state.json";
const USERS = "users";

/** One of a few numbered directories of the same kind. What it holds is used by many and changed by one. */
export interface Slot<State> {
  readonly directory: string;
  /** Undefined while it is filled, and for good where that was cut short. */
  readonly state: State | undefined;
  /** `used`: what it holds is in a container now, or may be. It must not be changed then. */
  readonly use: "used" | "idle";
  /** Milliseconds since 1970; when it was taken last. */
  readonly lastTaken: number;
}

/** Where the slots of one kind are. */
export interface SlotPool<State> {
  readonly directory: string;
  /** Reads what `fill` returned earlier; undefined for anything else. */
  readonly parse: (value: unknown) => State | undefined;
}

/** All slots there are, by number. To be called under the lock of the layers. */
export async function slotsOf<State>(pool: SlotPool<State>): Promise<readonly Slot<State>[]> {
  const names = await readdir(pool.directory).catch(() => []);
  const numbers = names.filter((name) => /^[1-9]\d{0,3}$/.test(name)).map(Number);
  const slots = numbers
    .toSorted((a, b) => a - b)
    .map(async (number): Promise<Slot<State>> => {
      const directory = join(pool.directory, String(number));
      await sweep(directory);
      return {
        directory,
        state: await readState(pool, directory),
        use: (await isSlotUsed(directory)) ? "used" : "idle",
        lastTaken: (await stat(directory).catch(() => undefined))?.mtimeMs ?? 0,
      };
    });
  return Promise.all(slots);
}

/** A number that no slot has. */
export function newSlot<State>(pool: SlotPool<State>, slots: readonly Slot<State>[]): Slot<State> {
  let number = 1;
  const taken = new Set(slots.map(({ directory }) => directory));
  while (taken.has(join(pool.directory, String(number)))) number += 1;
  const directory = join(pool.directory, String(number));
  return { directory, state: undefined, use: "idle", lastTaken: 0 };
}

/**
 * Uses a slot as it is. It counts as used for as long as `holder`, a directory that is there now, exists: who removes
 * that, in whatever way and also after a crash, gives the slot back.
 */
export async function useSlot(
  slot: Pick<Slot<unknown>, "directory">,
  holder: string,
): Promise<void> {
  const users = join(slot.directory, USERS);
  await ensurePrivateDirectory(users);
  await writeAtomic(join(users, randomBytes(8).toString("hex")), holder);
  const now = new Date();
  await utimes(slot.directory, now, now);
}

/**
 * Uses an idle slot after having changed what it holds. While it is filled it has no state, so that nobody takes what a
 * crash left half done.
 *
 * @param fill is told what the slot holds, or undefined; returns what it holds afterwards.
 */
export async function fillSlot<State>(
  slot: Slot<State>,
  holder: string,
  fill: () => Promise<Result<State, Failure>>,
): Promise<Result<State, Failure>> {
  await ensurePrivateDirectory(slot.directory);
  await rm(join(slot.directory, STATE), { force: true });
  await useSlot(slot, holder);
  const filled = await fill();
  if (filled.ok) await writeAtomic(join(slot.directory, STATE), JSON.stringify(filled.value));
  return filled.ok ? ok(filled.value) : filled;
}

/** Whether what a slot holds may be in a container now. Changes nothing. */
export async function isSlotUsed(directory: string): Promise<boolean> {
  const users = await usersOf(directory);
  return users.some(({ isThere }) => isThere);
}

/** Forgets whoever used it and is gone. */
export async function sweep(directory: string): Promise<void> {
  for (const { record, isThere } of await usersOf(directory))
    if (!isThere) await rm(record, { force: true });
}

async function usersOf(
  directory: string,
): Promise<readonly { readonly record: string; readonly isThere: boolean }[]> {
  const users = join(directory, USERS);
  // Other names were left by a crash while one was written.
  const names = (await readdir(users).catch(() => [])).filter((name) =>
    /^[0-9a-f]{16}$/.test(name),
  );
  return Promise.all(
    names.map(async (name) => {
      const record = join(users, name);
      const holder = await readFile(record, "utf8").catch(() => "");
      return { record, isThere: holder !== "" && existsSync(holder) };
    }),
  );
}

async function readState<State>(
  { parse }: SlotPool<State>,
  directory: string,
): Promise<State | undefined> {
  const text = await readFile(join(directory, STATE), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
