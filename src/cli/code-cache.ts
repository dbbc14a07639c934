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

/** Compiled code of one part of the program. */
export interface PartCode {
  readonly name: string;
  readonly source: Buffer;
  readonly code: Buffer;
}

/** Where compiled code of the parts that a command uses is kept, in one file. */
export interface CodeCache {
  /** What was kept for exactly this source and this Node; undefined where there is none that can be trusted. */
  read(name: string, source: Buffer): Buffer | undefined;
  /** Keeps these besides what is kept already. Best effort: a start without it is only slower. */
  add(parts: readonly PartCode[]): void;
}

export interface CacheName {
  /** What a command does not use is not kept for it. */
  readonly command: string;
  /** The part that all others are reached from; it names them by their content, so it tells one build from another. */
  readonly entry: Buffer;
}

/** Group or others may write. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Compiled code is run, so it is only taken from, and put into, a state directory that is there already, that is ours and
 * that nobody else may write to; the same goes for the directory and the file in it. V8 refuses by itself what another
 * version of it made; whether the bytes are whole is for us to see.
 *
 * @returns undefined where nothing may be kept.
 */
export function codeCache(stateDir: string, { command, entry }: CacheName): CodeCache | undefined {
  if (!isOursAlone(stateDir)) return undefined;
  const directory = join(stateDir, "compile-cache");
  const stem = `${command}-${process.version}-${process.arch}-${checksum(entry)}`;
  const file = join(directory, `${stem}.bin`);
  let known: ReadonlyMap<string, Kept> | undefined;
  const kept = () => (known ??= isOursAlone(directory) ? unpack(readOwn(file)) : NOTHING);
  return {
    read(name, source) {
      const found = kept().get(name);
      return found?.source === checksum(source) ? found.code : undefined;
    },
    add(parts) {
      if (parts.length === 0) return;
      const all = new Map(kept());
      for (const { name, source, code } of parts) all.set(name, { source: checksum(source), code });
      try {
        mkdirSync(directory, { mode: 0o700, recursive: true });
        if (isOursAlone(directory)) replace(directory, file, { command, content: pack(all) });
      } catch {
        // A full disk, or one that may only be read.
      }
    },
  };
}

interface Kept {
  /** Checksum of the source. */
  readonly source: string;
  readonly code: Buffer;
}

const NOTHING: ReadonlyMap<string, Kept> = new Map();

/** In the file: a checksum of all that follows, the length of the table as eight hexadecimal digits, the table, the code. */
type Table = readonly (readonly [name: string, source: string, bytes: number])[];

function pack(all: ReadonlyMap<string, Kept>): Buffer {
  const table: Table = [...all].map(([name, { source, code }]) => [name, source, code.length]);
  const text = Buffer.from(JSON.stringify(table), "latin1");
  const length = Buffer.from(text.length.toString(16).padStart(8, "0"), "latin1");
  const content = Buffer.concat([length, text, ...[...all.values()].map(({ code }) => code)]);
  return Buffer.concat([Buffer.from(checksum(content), "latin1"), content]);
}

function unpack(file: Buffer | undefined): ReadonlyMap<string, Kept> {
  if (file === undefined || file.toString("latin1", 0, 8) !== checksum(file.subarray(8)))
    return NOTHING;
  const start = 16 + Number.parseInt(file.toString("latin1", 8, 16), 16);
  // Whole, and made by us.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const table = JSON.parse(file.toString("latin1", 16, start)) as Table;
  const all = new Map<string, Kept>();
  let at = start;
  for (const [name, source, bytes] of table) {
    all.set(name, { source, code: file.subarray(at, at + bytes) });
    at += bytes;
  }
  return all;
}

/** Takes away what was kept of other builds for the same command. */
function replace(
  directory: string,
  file: string,
  { command, content }: { readonly command: string; readonly content: Buffer },
): void {
  for (const old of readdirSync(directory))
    if (old.startsWith(`${command}-v`)) rmSync(join(directory, old), { force: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, file);
}

function isOursAlone(directory: string): boolean {
  try {
    const stat = lstatSync(directory);
    return stat.isDirectory() && isTrusted(stat);
  } catch {
    // Not there, or in a directory that is closed to us.
    return false;
  }
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
