import { type Stats, lchownSync, lstatSync, lutimesSync, readdirSync } from "node:fs";

const SLASH = Buffer.from("/");

/** Uid and gid, as in chown(2). */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Gives a tree of our own to the uid a container runs as, following no link. Does nothing where the files belong to
 * it already (an ordinary user runs containers as itself). Must not be called on a tree that a container has written.
 *
 * @param path may be bytes: names in a repository need not be UTF-8.
 */
export function giveTo(path: string | Buffer, owner: FileOwner): void {
  eachEntry(path, (entry, stat) => giveEntry(entry, stat, owner));
}

/**
 * The same, and gives everything but the directories one time of change.
 *
 * @param options.owner where it is missing, the files stay whose they are.
 * @param options.time seconds since the epoch, as in lutimes(3).
 */
export function settleTree(
  path: string | Buffer,
  options: { readonly owner: FileOwner | undefined; readonly time: number },
): void {
  eachEntry(path, (entry, stat) => settleEntry(entry, stat, options));
}

/** One entry of such a tree. */
export function settleEntry(
  path: string | Buffer,
  stat: Stats,
  { owner, time }: { readonly owner: FileOwner | undefined; readonly time: number },
): void {
  if (owner !== undefined) giveEntry(path, stat, owner);
  if (!stat.isDirectory()) lutimesSync(path, time, time);
}

function giveEntry(path: string | Buffer, stat: Stats, { uid, gid }: FileOwner): void {
  // Changing to the same owner would still change ctime, and with it the index's idea of the file.
  if (stat.uid !== uid || stat.gid !== gid) lchownSync(path, uid, gid);
}

function eachEntry(path: string | Buffer, act: (path: string | Buffer, stat: Stats) => void): void {
  const stat = lstatSync(path);
  act(path, stat);
  if (!stat.isDirectory()) return;
  for (const name of readdirSync(path, { encoding: "buffer" }))
    eachEntry(Buffer.concat([Buffer.from(path), SLASH, name]), act);
}
