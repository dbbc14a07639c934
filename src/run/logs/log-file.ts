import { type FileHandle, open, rename, rm } from "node:fs/promises";
import type { CutMark } from "./cut-mark.ts";

const COPY_BYTES = 256 * 1024;
/** How far from where a log is to be cut a line end is looked for. */
const NEAR_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;

export interface LogFileOptions {
  readonly path: string;
  readonly limitBytes: number;
  readonly mark: CutMark;
  readonly openFile?: (path: string) => Promise<LogHandle>;
}

export type LogHandle = Pick<FileHandle, "appendFile" | "read" | "truncate" | "close"> & {
  readonly stat: () => Promise<{ readonly size: number }>;
};

function openFile(path: string): Promise<LogHandle> {
  return open(path, "a+", 0o600);
}

/**
 * The file of a log, which stays within its limit: when it is full its middle is cut, into a new file that takes its
 * place as one step, so that after a crash it is whole. One call at a time.
 */
export function logFile({ path, limitBytes, mark, openFile: opener = openFile }: LogFileOptions) {
  let handle: LogHandle | undefined;
  let size = 0;
  /** Where the beginning that is kept ends; known after the first cut. */
  let head: number | undefined;
  /** Of the mark that stands there. */
  let markLength = 0;
  let cut = 0;
  const opened = async (): Promise<LogHandle> => {
    if (handle !== undefined) return handle;
    const now = await opener(path);
    size = (await now.stat()).size;
    handle = now;
    return now;
  };
  const cutMiddle = async (from: LogHandle): Promise<LogHandle> => {
    const kept = Math.floor(limitBytes / 4);
    const headEnd = head ?? (await lineEnd(from, Math.min(kept, size)));
    const tailStart = await lineStart(from, Math.max(headEnd + markLength, size - kept), size);
    const cutBytes = cut + tailStart - headEnd - markLength;
    const line = Buffer.from(mark.line({ why: "limit", bytes: cutBytes, limitBytes }));
    const draft = `${path}.cut`;
    await rm(draft, { force: true });
    const to = await opener(draft);
    try {
      await copy(from, to, { start: 0, end: headEnd });
      await to.appendFile(line);
      await copy(from, to, { start: tailStart, end: size });
      await rename(draft, path);
    } catch (error) {
      await to.close();
      await rm(draft, { force: true });
      throw error;
    }
    await from.close();
    handle = to;
    size = headEnd + line.length + size - tailStart;
    [head, markLength, cut] = [headEnd, line.length, cutBytes];
    return to;
  };
  return {
    async append(bytes: Buffer): Promise<void> {
      let to = await opened();
      if (size + bytes.length > limitBytes && size > 0) to = await cutMiddle(to);
      try {
        await to.appendFile(bytes);
        size += bytes.length;
      } catch (error) {
        // Half a line would be worse than none.
        await to.truncate(size).catch(() => undefined);
        throw error;
      }
    },
    cut: (): number => cut,
    async close(): Promise<void> {
      await handle?.close();
      handle = undefined;
    },
  };
}

async function copy(
  from: LogHandle,
  to: LogHandle,
  range: { readonly start: number; readonly end: number },
): Promise<void> {
  // One for all of it: the collector looks seldom at what lies outside of its heap.
  const buffer = Buffer.allocUnsafeSlow(COPY_BYTES);
  for (let at = range.start; at < range.end;) {
    const { bytesRead } = await from.read(buffer, 0, Math.min(COPY_BYTES, range.end - at), at);
    if (bytesRead === 0) return;
    await to.appendFile(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

async function readAt(from: LogHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await from.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}

/** Behind the last line end before `end`; `end` itself where none is near. */
async function lineEnd(from: LogHandle, end: number): Promise<number> {
  const start = Math.max(0, end - NEAR_BYTES);
  const at = (await readAt(from, start, end)).lastIndexOf(LINE_FEED);
  return at === -1 ? end : start + at + 1;
}

/** Behind the first line end from `start`; `start` itself where none is near. */
async function lineStart(from: LogHandle, start: number, size: number): Promise<number> {
  const at = (await readAt(from, start, Math.min(size, start + NEAR_BYTES))).indexOf(LINE_FEED);
  return at === -1 ? start : start + at + 1;
}
