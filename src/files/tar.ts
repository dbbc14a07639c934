/** One regular file in an archive. */
export interface TarEntry {
  readonly name: string;
  readonly bytes: Buffer;
}

const BLOCK = 512;

/**
 * Writes a POSIX archive (ustar, with a pax header for names that are too long), which any `tar` reads. Owner, times
 * and modes are fixed, so the same files make the same archive.
 */
export function writeTar(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(({ name, bytes }) => [
    ...(Buffer.byteLength(name) > 100 ? file("pax-header", "x", paxPath(name)) : []),
    ...file(name, "0", bytes),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function file(name: string, type: "0" | "x", bytes: Buffer): readonly Buffer[] {
  const padding = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
  return [header(name, type, bytes.length), bytes, padding];
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width, "0")}\0`;
}

function header(name: string, type: "0" | "x", sizeBytes: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(Buffer.from(name).subarray(0, 100).toString("latin1"), 0, "latin1");
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(sizeBytes, 11), 124);
  block.write(octal(0, 11), 136);
  // The checksum is taken with its own field full of spaces.
  block.write(" ".repeat(8), 148);
  block.write(type, 156);
  block.write("ustar\u000000", 257, "latin1");
  block.write(`${sumOf(block).toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** `LENGTH path=NAME\n`, where the length counts itself. */
function paxPath(name: string): Buffer {
  const rest = ` path=${name}\n`;
  let length = Buffer.byteLength(rest);
  while (length !== Buffer.byteLength(`${length}${rest}`))
    length = Buffer.byteLength(`${length}${rest}`);
  return Buffer.from(`${length}${rest}`);
}

/**
 * Reads such an archive.
 *
 * @returns undefined when it is not one: a bad checksum, a cut end, anything but regular files.
 */
export function readTar(archive: Buffer): readonly TarEntry[] | undefined {
  const entries: TarEntry[] = [];
  let longName: string | undefined;
  for (let at = 0; at + BLOCK <= archive.length;) {
    const block = archive.subarray(at, at + BLOCK);
    if (block.every((byte) => byte === 0)) return entries;
    const size = octalIn(block, 124, 12);
    if (size === undefined || octalIn(block, 148, 8) !== sumOf(block)) return undefined;
    const bytes = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (bytes.length !== size) return undefined;
    const type = String.fromCharCode(block[156] ?? 0);
    if (type === "x") longName = /^\d+ path=(.*)\n$/s.exec(bytes.toString("utf8"))?.[1];
    else if (type === "0") {
      entries.push({ name: longName ?? textIn(block, 0, 100), bytes });
      longName = undefined;
    } else return undefined;
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}

function sumOf(block: Buffer): number {
  return block.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function textIn(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString("utf8");
}

function octalIn(block: Buffer, at: number, length: number): number | undefined {
  const text = textIn(block, at, length).trim();
  return /^[0-7]{1,11}$/.test(text) ? Number.parseInt(text, 8) : undefined;
}
