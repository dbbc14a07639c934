import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../core/errno.ts";

/**
 * The pool on disk:
 *
 *     <root>/<slot>/<worktree>        the worktree, kept between leases
 *     <root>/<slot>/.lease/<id>.json  there while the slot is leased
 *     <root>/.new-<id>-<pid>/             a lease record on its way into a slot
 */
export interface Slot {
  readonly number: number;
  readonly directory: string;
  readonly leaseDirectory: string;
}

export const MAX_SLOTS = 64;

export function slotAt(root: string, number: number): Slot {
  const directory = join(root, String(number));
  return { number, directory, leaseDirectory: join(directory, ".lease") };
}

/** Name of the worktree's directory: the repository's own, kept apart from our dotted names beside it. */
export function worktreeName(repositoryName: string): string {
  return /^[^.]/.test(repositoryName) ? repositoryName : `worktree${repositoryName}`;
}

/** All slots that exist, in the order of their numbers. */
export async function existingSlots(root: string): Promise<readonly Slot[]> {
  const names = await namesIn(root);
  return names
    .filter((name) => /^[1-9]\d{0,5}$/.test(name))
    .map(Number)
    .toSorted((left, right) => left - right)
    .map((number) => slotAt(root, number));
}

/** The slot of a leased worktree's path, or undefined when the path is not one of this pool. */
export function slotOfPath(root: string, path: string): Slot | undefined {
  const name = basename(dirname(path));
  if (!/^[1-9]\d{0,5}$/.test(name)) return undefined;
  const slot = slotAt(root, Number(name));
  return dirname(path) === slot.directory && !basename(path).startsWith(".") ? slot : undefined;
}

/** Names in a directory; a directory that is not there is empty. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
