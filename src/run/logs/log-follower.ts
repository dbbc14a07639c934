import { type FileHandle, open, stat } from "node:fs/promises";

const PIECE_BYTES = 256 * 1024;

/** Where the middle of a log was cut. */
interface Cut {
  readonly at: number;
  /** Of the line that says so. */
  readonly length: number;
  readonly bytes: number;
}

interface Opened {
  readonly handle: FileHandle;
  readonly inode: number;
  offset: number;
}

/**
 * Reads a log from its beginning, then what is added. When its middle is cut meanwhile another file takes its place:
 * reading goes on in that where it was, or at the cut when it was behind. The file need not be there yet.
 *
 * @param cutLine the line that marks a cut, see `CutMark`; an agent that prints one can confuse this reading, not the log.
 */
export function logFollower(path: string, cutLine: RegExp) {
  let opened: Opened | undefined;
  const openAt = async (offset: number): Promise<Opened | undefined> => {
    const handle = await open(path, "r").catch(() => undefined);
    if (handle === undefined) return undefined;
    return { handle, inode: (await handle.stat()).ino, offset };
  };
  const moveOn = async (from: Opened): Promise<Opened | undefined> => {
    const to = await openAt(0);
    if (to === undefined) return undefined;
    const position = positionAt(await findCut(from.handle, cutLine), from.offset);
    to.offset = offsetOf(await findCut(to.handle, cutLine), position);
    await from.handle.close();
    return to;
  };
  return {
    /** What is there beyond the last look, in pieces. */
    async *more(): AsyncGenerator<Buffer> {
      opened ??= await openAt(0);
      while (opened !== undefined) {
        yield* rest(opened);
        const now = await stat(path).catch(() => undefined);
        if (now === undefined || now.ino === opened.inode) return;
        // What was written between the last look and the cut.
        yield* rest(opened);
        opened = (await moveOn(opened)) ?? opened;
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await opened?.handle.close();
      opened = undefined;
    },
  };
}

async function* rest(from: Opened): AsyncGenerator<Buffer> {
  for (;;) {
    const piece = await readPiece(from.handle, from.offset);
    if (piece.length === 0) return;
    from.offset += piece.length;
    yield piece;
  }
}

async function readPiece(handle: FileHandle, offset: number): Promise<Buffer> {
  const buffer = Buffer.alloc(PIECE_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
  return buffer.subarray(0, bytesRead);
}

/** Looks at two pieces at a time: a line may lie across two. */
async function findCut(handle: FileHandle, cutLine: RegExp): Promise<Cut | undefined> {
  let before = "";
  for (let offset = 0; ; offset += PIECE_BYTES) {
    const piece = (await readPiece(handle, offset)).toString("latin1");
    const text = before + piece;
    const [found] = text.matchAll(cutLine);
    if (found !== undefined)
      return {
        at: offset - before.length + found.index,
        length: found[0].length,
        bytes: Number(found[1]),
      };
    if (piece.length < PIECE_BYTES) return undefined;
    before = piece;
  }
}

/** How far the output had come, in bytes as they were printed. */
function positionAt(cut: Cut | undefined, offset: number): number {
  return cut === undefined || offset <= cut.at ? offset : offset - cut.length + cut.bytes;
}

function offsetOf(cut: Cut | undefined, position: number): number {
  if (cut === undefined || position <= cut.at) return position;
  return Math.max(cut.at, position - cut.bytes + cut.length);
}
