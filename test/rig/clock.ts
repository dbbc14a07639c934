import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { World } from "./world.ts";

const HOOK = pathToFileURL(join(import.meta.dirname, "clock-hook.mjs")).href;

/** For a call of guardloop: time goes six times faster, so deadlines of a minute are over in ten seconds. */
export const IN_A_HURRY = { NODE_OPTIONS: `--import ${HOOK}`, HURRY: "6" } as const;

/** The file that says how wrong the system's clock is; a script of an agent may write into it as well. */
export function clockFile(world: World): string {
  return join(world.root, "clock");
}

/** For a call of guardloop: the system's clock is as wrong as `setClock` says, also while the call goes on. */
export function wrongClock(world: World): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import ${HOOK}`, CLOCK_FILE: clockFile(world) };
}

/** @param aheadMs negative for a clock that is behind */
export function setClock(world: World, aheadMs: number): void {
  writeFileSync(clockFile(world), String(aheadMs));
}
