import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

/** Where compiled code of one part of the program is kept for one command. */
export interface CodeCache {
  /** What was kept for exactly this source and this Node; undefined where there is none that can be trusted. */
  read(source: Buffer): Buffer | undefined;
  /** Best effort: a start without it is only slower. */
  write(source: Buffer, code: Buffer): void;
}

/** Group or others may write. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Compiled code is run, so it is only taken from, and put into, a state directory that is there already, that is ours and
 * that nobody else may write to; the same goes for the directory and the file in it. V8 refuses by itself what another
 * version of it made; whether the bytes are whole is for us to see.
 *
 * @param name of the part and the command: what a command does not use is not kept for it.
 * @returns undefined where nothing may be kept.
 */
export function codeCache(stateDir: string, name: string): CodeCache | undefined {
  if (!isOursAlone(stateDir)) return undefined;
  const directory = join(stateDir, "compile-cache");
  const fileOf = (source: Buffer): string =>
    join(directory, `${name}-${process.version}-${process.arch}-${checksum(source)}.bin`);
  return {
    read(source) {
      if (!isOursAlone(directory)) return undefined;
      const kept = readOwn(fileOf(source));
      const code = kept?.subarray(8);
      return code !== undefined && kept?.toString("latin1", 0, 8) === checksum(code)
        ? code
        : undefined;
    },
    write(source, code) {
      try {
        mkdirSync(directory, { mode: 0o700, recursive: true });
        if (isOursAlone(directory)) replace(directory, fileOf(source), { name, code });
      } catch {
        // A full disk, or one that may only be read.
      }
    },
  };
}

/** Takes away what was kept of other versions of the same part. */
function replace(
  directory: string,
  file: string,
  { name, code }: { readonly name: string; readonly code: Buffer },
): void {
  for (const old of readdirSync(directory))
    if (old.startsWith(`${name}-v`)) rmSync(join(directory, old), { force: true });
  const temporary = `${file}.${process.pid}.tmp`;
  const content = [Buffer.from(checksum(code), "latin1"), code];
  writeFileSync(temporary, Buffer.concat(content), { mode: 0o600 });
  renameSync(temporary, file);
}

function isOursAlone(directory: string): boolean {
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && isTrusted(stat);
}

function isTrusted(stat: { readonly uid: number; readonly mode: number }): boolean {
  return stat.uid === process.getuid?.() && (stat.mode & WRITABLE_BY_OTHERS) === 0;
}

/** The file that was looked at is the one that is read, whatever its name leads to by then. */
function readOwn(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(file);
    return stat.isFile() && isTrusted(stat) ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** Eight hexadecimal digits. */
function checksum(bytes: Buffer): string {
  return crc32(bytes).toString(16).padStart(8, "0");
}
