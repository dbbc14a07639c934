import type { EgressEntry } from "../../core/egress.ts";
import type { EgressSink } from "../../gateway/port.ts";
import { type LogLoss, boundedLog } from "../logs/bounded-log.ts";
import { jsonMark } from "../logs/cut-mark.ts";

export interface EgressFileOptions {
  /** egress.jsonl of the run's record. */
  readonly path: string;
  readonly limitBytes: number;
  readonly now?: () => Date;
  /** Told once, with the system's name of the problem, when it cannot be written. */
  readonly onTrouble: (reason: string) => void;
}

/** Where a run's requests are written down, one JSON object a line, in the order in which they ended. */
export interface EgressFile extends EgressSink, AsyncDisposable {
  /** Everything is on disk, or the disk is given up. */
  settle(): Promise<void>;
  /** What of it is missing; the totals count it all the same. */
  loss(): LogLoss;
}

/**
 * Stays within its limit as the agent's logs do: its middle is cut and marked by a line of `"type":"cut"`. Texts of the
 * container are in it as they came, bounded by the gateway; JSON keeps them within their line.
 */
export function egressFile(options: EgressFileOptions): EgressFile {
  const { path, limitBytes, onTrouble, now = () => new Date() } = options;
  const log = boundedLog({ path, limitBytes, onTrouble, mark: jsonMark(now) });
  return {
    add(entry: EgressEntry): void {
      log.add(Buffer.from(`${JSON.stringify(rounded(entry))}\n`));
    },
    settle: () => log.settle(),
    loss: () => log.loss(),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

/** Milliseconds to a tenth, which is what can be believed of them. */
function rounded(entry: EgressEntry): EgressEntry {
  const { firstByteMs, totalMs } = entry;
  return {
    ...entry,
    firstByteMs: firstByteMs === null ? null : tenth(firstByteMs),
    totalMs: tenth(totalMs),
  };
}

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}
