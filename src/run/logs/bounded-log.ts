import { setTimeout as delay } from "node:timers/promises";
import { errnoOf } from "../../core/errno.ts";
import { type LogFileOptions, logFile } from "./log-file.ts";
import { slabQueue } from "./slab-queue.ts";

/** What waits for the disk; beyond it output is dropped, since the agent must not wait. */
const QUEUE_BYTES = 8 * 1024 * 1024;
/** How long the end of a run waits for a disk that does not answer. */
const PATIENCE_MS = 10_000;
const LINE_FEED = 0x0a;

export interface BoundedLogOptions extends LogFileOptions {
  /** Called once, with the system's name of the problem, when the log cannot be written. */
  readonly onTrouble: (reason: string) => void;
}

/** What of a log is missing, in bytes. */
export interface LogLoss {
  readonly cut: number;
  readonly dropped: number;
  readonly unwritten: number;
  readonly reason: string | null;
}

/**
 * A log that never grows beyond its limit, keeps its beginning and its end, and never makes anybody wait. What is
 * missing is marked where it is missing, and counted. A disk that refuses is tried again with the next output.
 */
export function boundedLog(options: BoundedLogOptions) {
  const writer = logWriter(options);
  const queue = slabQueue();
  let unmarked = 0;
  let dropped = 0;
  let pump: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    for (let batch = queue.take(); batch !== undefined; batch = queue.take()) {
      await writer.write(batch);
      queue.release(batch);
    }
    pump = undefined;
  };
  const enqueue = (bytes: Buffer | string): void => {
    queue.add(bytes);
    pump ??= work();
  };
  const markDropped = (): void => {
    if (unmarked > 0) enqueue(options.mark.line({ why: "slow", bytes: unmarked }));
    unmarked = 0;
  };
  // An empty log is there as well, and a disk in trouble is known from the start.
  enqueue("");
  return {
    /** Whole lines where the log's readers need whole lines. Returns at once. */
    add(output: Buffer | string): void {
      const length = Buffer.byteLength(output);
      if (queue.bytes() + length > QUEUE_BYTES) {
        unmarked += length;
        dropped += length;
        return;
      }
      markDropped();
      enqueue(output);
    },
    /** Everything is on disk, or the disk is given up. */
    async settle(): Promise<void> {
      markDropped();
      if (pump !== undefined) await orPatience(pump);
    },
    loss: (): LogLoss => ({ dropped, ...writer.loss() }),
    async [Symbol.asyncDispose](): Promise<void> {
      await this.settle();
      if (pump === undefined) await writer.close();
    },
  };
}

async function orPatience(work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([work, delay(PATIENCE_MS, undefined, { signal }).catch(() => undefined)]);
  over.abort();
}

/** Writes or counts; never fails. */
function logWriter(options: BoundedLogOptions) {
  const { limitBytes, mark } = options;
  const file = logFile(options);
  // Small beside the limit, so that no more is cut than is needed.
  const pieceBytes = Math.max(1, Math.floor(limitBytes / 8));
  let unwritten = 0;
  let unmarked = 0;
  let reason: string | null = null;
  const writePiece = async (bytes: Buffer): Promise<void> => {
    const missing = { why: "unwritable", bytes: unmarked, reason: reason ?? "" } as const;
    const before = unmarked === 0 ? [] : [Buffer.from(mark.line(missing))];
    try {
      await file.append(before.length === 0 ? bytes : Buffer.concat([...before, bytes]));
      unmarked = 0;
    } catch (error) {
      unmarked += bytes.length;
      unwritten += bytes.length;
      if (reason === null) options.onTrouble(errnoOf(error));
      reason = errnoOf(error);
    }
  };
  return {
    async write(batch: Buffer): Promise<void> {
      if (batch.length === 0) await writePiece(batch);
      for (let at = 0; at < batch.length;) {
        const end = pieceEnd(batch, at, pieceBytes);
        await writePiece(batch.subarray(at, end));
        at = end;
      }
    },
    loss: () => ({ cut: file.cut(), unwritten, reason }),
    close: () => file.close(),
  };
}

/** At a line end where there is one near. */
function pieceEnd(batch: Buffer, at: number, piece: number): number {
  if (batch.length - at <= piece) return batch.length;
  const end = batch.lastIndexOf(LINE_FEED, at + piece - 1) + 1;
  if (end > at) return end;
  const next = batch.indexOf(LINE_FEED, at + piece);
  return next === -1 ? batch.length : next + 1;
}
