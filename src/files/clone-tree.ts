import {
  constants,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";

const SLASH = Buffer.from("/");

/**
 * Clones a tree of our own, of files, directories and links, into an empty directory: the files share their blocks on
 * the disk until one of two changes. Modes are kept, owners and times are not.
 *
 * @throws where the file system cannot clone, or the two are not on the same one.
 */
export function cloneTree(from: string | Buffer, to: string | Buffer): void {
  // Names in a repository need not be UTF-8, so they are bytes.
  for (const entry of readdirSync(from, { encoding: "buffer", withFileTypes: true })) {
    const source = Buffer.concat([Buffer.from(from), SLASH, entry.name]);
    const target = Buffer.concat([Buffer.from(to), SLASH, entry.name]);
    if (entry.isDirectory()) {
      mkdirSync(target, { mode: 0o755 });
      cloneTree(source, target);
    } else if (entry.isSymbolicLink())
      symlinkSync(readlinkSync(source, { encoding: "buffer" }), target);
    else {
      const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
      // oxlint-disable-next-line no-bitwise -- flags
      copyFileSync(source, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    }
  }
}
