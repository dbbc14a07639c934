import { lchownSync, lstatSync, readdirSync } from "node:fs";

const SLASH = Buffer.from("/");

/**
 * Gives a tree of our own to the uid a container runs as, following no link. Does nothing where the files belong to
 * it already (an ordinary user runs containers as itself). Must not be called on a tree that a container has written.
 *
 * @param path may be bytes: names in a repository need not be UTF-8.
 */
export function giveTo(
  path: string | Buffer,
  owner: { readonly uid: number; readonly gid: number },
): void {
  const stat = lstatSync(path);
  // Changing to the same owner would still change ctime, and with it the index's idea of the file.
  if (stat.uid !== owner.uid || stat.gid !== owner.gid) lchownSync(path, owner.uid, owner.gid);
  if (!stat.isDirectory()) return;
  for (const name of readdirSync(path, { encoding: "buffer" }))
    giveTo(Buffer.concat([Buffer.from(path), SLASH, name]), owner);
}
