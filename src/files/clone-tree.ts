import {
  constants,
  copyFileSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";

const SLASH = Buffer.from("/");

/**
 * Clones a tree of our own, of files, directories and links, into an empty directory: the files share their blocks on
 * the disk until one of two changes. Modes are kept, times are not.
 *
 * @param owner who all of it is given to, as far as it is not theirs.
 * @throws where the file system cannot clone, or the two are not on the same one.
 */
export function cloneTree(
  from: string,
  to: string,
  owner: { readonly uid: number; readonly gid: number },
): void {
  cloneInto(Buffer.from(from), Buffer.from(to), owner);
}

function cloneInto(
  from: Buffer,
  to: Buffer,
  owner: { readonly uid: number; readonly gid: number },
): void {
  const isGiven = process.getuid?.() !== owner.uid || process.getgid?.() !== owner.gid;
  // Names in a repository need not be UTF-8, so they are bytes.
  for (const entry of readdirSync(from, { encoding: "buffer", withFileTypes: true })) {
    const source = Buffer.concat([from, SLASH, entry.name]);
    const target = Buffer.concat([to, SLASH, entry.name]);
    if (entry.isDirectory()) {
      mkdirSync(target, { mode: 0o755 });
      cloneInto(source, target, owner);
    } else if (entry.isSymbolicLink())
      symlinkSync(readlinkSync(source, { encoding: "buffer" }), target);
    else {
      const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
      // oxlint-disable-next-line no-bitwise -- flags
      copyFileSync(source, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    }
    if (isGiven) lchownSync(target, owner.uid, owner.gid);
  }
}
