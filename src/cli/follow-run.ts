import { setTimeout as delay } from "node:timers/promises";
import type { Call } from "./define.ts";
import type { WithRun } from "./with-run.ts";

const POLL_MS = 300;

/**
 * Prints what is there, and with --follow what comes until the run has ended or Ctrl-C.
 *
 * @param more prints what has been added since its last call.
 */
export async function followRun(
  { context: { interrupt }, options }: Call,
  at: WithRun,
  more: () => Promise<void>,
): Promise<void> {
  await more();
  while (options.follow === true && isRunning(at) && !interrupt.aborted) {
    await delay(POLL_MS, undefined, { signal: interrupt }).catch(() => undefined);
    await more();
  }
  // What was written between the last look and the end.
  await more();
}

export function isRunning({ history, run }: WithRun): boolean {
  return history.run(run.id)?.state === "running";
}
