import { setTimeout as delay } from "node:timers/promises";
import type { Signalled } from "../process/owner.ts";

/** How long a process is waited for, in milliseconds. */
export interface Patience {
  readonly pollMs: number;
  /** With SIGTERM; then it is killed. */
  readonly politeMs: number;
  /** After SIGKILL. Nothing can refuse that, but a process that waits in the kernel does not end. */
  readonly killedMs: number;
}

const PATIENCE: Patience = { pollMs: 200, politeMs: 10_000, killedMs: 20_000 };

export interface ProcessToEnd {
  readonly signal: (name: "SIGTERM" | "SIGKILL") => Signalled;
  readonly isAlive: () => boolean;
}

/**
 * Ends a process at once: SIGTERM until it is gone, since signals that come together count as one and only the second one
 * ends a run's owner; then SIGKILL.
 *
 * @returns `sent` when it is gone, `survived` when it is still there after all, else why no signal reached it.
 */
export async function endProcess(
  { signal, isAlive }: ProcessToEnd,
  { pollMs, politeMs, killedMs }: Patience = PATIENCE,
): Promise<Signalled | "survived"> {
  const first = signal("SIGTERM");
  if (first !== "sent") return first;
  const start = performance.now();
  while (isAlive()) {
    const waitedMs = performance.now() - start;
    if (waitedMs > politeMs + killedMs) return "survived";
    await delay(pollMs);
    signal(waitedMs < politeMs ? "SIGTERM" : "SIGKILL");
  }
  return "sent";
}
