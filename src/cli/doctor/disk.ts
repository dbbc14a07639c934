import type { Settings } from "../../config/settings.ts";
import { freeSpaceBytes } from "../../files/free-space.ts";
import type { Principal } from "../../git/principal.ts";
import { refuseDiskLow } from "../../run/house/disk-floor.ts";
import type { Context } from "../context.ts";
import { size } from "../output/duration.ts";
import { type Check, good, problem } from "./check.ts";

export async function diskCheck(
  { env: { stateDir } }: Context,
  principal: Principal,
  settings: Settings,
): Promise<Check> {
  const { freeFloorBytes } = settings.disk;
  const room = await refuseDiskLow({ stateDir, principal }, freeFloorBytes);
  if (!room.ok) return problem("disk", room.error);
  const free = await freeSpaceBytes(stateDir);
  const text = free === undefined ? "its free space is not told" : `${size(free)} free`;
  return good("disk", `${text}, at ${stateDir}; no run begins below ${size(freeFloorBytes)}`);
}
