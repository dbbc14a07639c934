import { readFile, rm } from "node:fs/promises";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import { writeAtomic } from "../files/write-atomic.ts";
import type { RunPaths } from "./paths.ts";

/**
 * Ends a run in order, as Ctrl-C once does; sent again it changes nothing. SIGTERM will not do: the second one ends a
 * process at once, and nobody can know whether a first one was sent.
 */
export const STOP_SIGNAL = "SIGUSR2";

/** Kept in the run's record, so that the run can say who stopped it. */
export interface StopRequest {
  readonly version: 1;
  /** Account name. */
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** `at-once`: the owner was ended without a chance to clean up; recovery did. */
  readonly how: "in-order" | "at-once";
}

/** Written before the owner is told. May be called again; the newest request counts. */
export async function writeStopRequest(paths: RunPaths, request: StopRequest): Promise<void> {
  await ensurePrivateDirectory(paths.root);
  await writeAtomic(paths.stopRequest, `${JSON.stringify(request)}\n`);
}

export async function readStopRequest(paths: RunPaths): Promise<StopRequest | undefined> {
  const text = await readFile(paths.stopRequest, "utf8").catch(() => undefined);
  // Our own file in a directory that only we can write.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return text === undefined ? undefined : (JSON.parse(text) as StopRequest);
}

/** Takes a request back that never reached the owner. */
export async function withdrawStopRequest(paths: RunPaths): Promise<void> {
  await rm(paths.stopRequest, { force: true });
}

/** One sentence without its full stop, for the run's failure. */
export function stoppedBy({ by, how }: StopRequest): string {
  return how === "in-order"
    ? `The run was stopped by ${by} with \`guardloop stop\``
    : `The run was stopped at once by ${by} with \`guardloop stop --now\``;
}
