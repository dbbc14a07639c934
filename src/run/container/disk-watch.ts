import { setTimeout as delay } from "node:timers/promises";
import type { DiskGrowth, DiskUse, RunLimits } from "../../core/run-spec.ts";
import { diskUse } from "../../files/disk-use.ts";
import type { RunPaths } from "../paths.ts";

const FIRST_LOOK_MS = 2_000;
const SHORTEST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 120_000;
/** Between two looks lies at least this many times what a look took. */
const PAUSE_FACTOR = 10;

/** What the container can write to on the host's disk. */
export type WrittenPaths = Pick<RunPaths, "workspace" | "outbox">;

function writable({ workspace, outbox }: WrittenPaths): readonly string[] {
  return [workspace, outbox];
}

/** Measures a snapshot that nothing has written to yet: what it has grown by later counts from here. */
export async function firstDiskUse(paths: WrittenPaths): Promise<DiskUse> {
  const limit = { bytes: Infinity, entries: Infinity };
  const { signal } = new AbortController();
  const { use } = await diskUse(writable(paths), { limit, pace: "at-once", signal });
  return use;
}

export interface DiskWatchOptions {
  readonly first: DiskUse;
  readonly limits: RunLimits;
  readonly onOver: () => void;
}

/**
 * Looks at what the container has written from time to time, until it is disposed of, and says once when that is over a
 * limit. The larger the tree, the rarer the looks. What an agent writes between two of them is not in it, nor is a file
 * that was removed and is still open.
 */
export function watchDisk(paths: WrittenPaths, { first, limits, onOver }: DiskWatchOptions) {
  const stop = new AbortController();
  const limit = {
    bytes: first.bytes + (limits.diskBytes ?? Infinity),
    entries: first.entries + (limits.files ?? Infinity),
  };
  let seen: DiskGrowth | undefined;
  const look = async (): Promise<"over" | "within"> => {
    const { signal } = stop;
    const { use, outcome } = await diskUse(writable(paths), { limit, pace: "gently", signal });
    if (outcome === "stopped") return "within";
    const over = whatIsOver(use, { limit, outcome });
    seen = {
      bytes: Math.max(seen?.bytes ?? 0, use.bytes - first.bytes),
      entries: Math.max(seen?.entries ?? 0, use.entries - first.entries),
      over,
    };
    if (over === "none") return "within";
    onOver();
    return "over";
  };
  void (async () => {
    let pauseMs = FIRST_LOOK_MS;
    for (;;) {
      await delay(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      const start = performance.now();
      if ((await look()) === "over") return;
      const tookMs = performance.now() - start;
      pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, tookMs * PAUSE_FACTOR));
    }
  })();
  return {
    seen: (): DiskGrowth | undefined => seen,
    [Symbol.dispose](): void {
      stop.abort();
    },
  };
}

function whatIsOver(
  use: DiskUse,
  at: { readonly limit: DiskUse; readonly outcome: "whole" | "over" | "deep" },
): DiskGrowth["over"] {
  if (use.bytes > at.limit.bytes) return "bytes";
  if (use.entries > at.limit.entries) return "entries";
  return at.outcome === "deep" ? "depth" : "none";
}
