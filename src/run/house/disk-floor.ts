import { join } from "node:path";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { freeSpaceBytes } from "../../files/free-space.ts";
import type { Principal } from "../../git/principal.ts";

/** Where a run writes: they may be on file systems of their own. */
export interface Places {
  readonly stateDir: string;
  readonly principal: Pick<Principal, "commonDir">;
}

const MIB = 1024 ** 2;

/**
 * Refuses a new run where too little space is free: a disk that fills up in the middle of one costs more than a run.
 * Asked before each run is created, so nothing is there yet that could be lost.
 *
 * @param makeRoom called once before a refusal, and may take its time; it tells whether to look again.
 * @returns `disk-low` for the first place that is below the floor; a file system that does not tell is passed.
 */
export async function refuseDiskLow(
  { stateDir, principal }: Places,
  floorBytes: number,
  makeRoom: () => Promise<"look again" | "no more room"> = async () => "no more room",
): Promise<Result<void, Failure>> {
  const room = await roomIn({ stateDir, principal }, floorBytes);
  if (room.ok || (await makeRoom()) === "no more room") return room;
  return roomIn({ stateDir, principal }, floorBytes);
}

async function roomIn(
  { stateDir, principal }: Places,
  floorBytes: number,
): Promise<Result<void, Failure>> {
  const paths = [stateDir, join(stateDir, "worktrees"), join(principal.commonDir, "objects")];
  for (const path of paths) {
    const free = await freeSpaceBytes(path);
    if (free !== undefined && free < floorBytes)
      return fail(
        "disk-low",
        `Only ${inMib(free)} are free on the file system of ${path}, less than the floor of ${inMib(floorBytes)}, so no new run begins.`,
      );
  }
  return ok(undefined);
}

/** Both numbers in one unit, so that a person can compare them. */
function inMib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`;
}
