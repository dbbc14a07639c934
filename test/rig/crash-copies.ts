import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hooked, quiet } from "./effects.ts";
import type { World } from "./world.ts";

/**
 * A command's effects, with a copy of the world before each: what SIGKILL would leave there, for the price of one call
 * of the command. A copy is put back at the world's own path, since Git and guardloop write down absolute paths; so its
 * tests take turns. What a program is in the midst of has no copy: those points need a real kill.
 */
export interface Copies {
  /** In order, as `before LABEL#N`. */
  readonly points: readonly string[];
  readonly restore: (point: string) => void;
  /** The world as it was before the command. */
  readonly restoreStart: () => void;
  readonly [Symbol.dispose]: () => void;
}

/**
 * @param at which effects' `LABEL#N` have a copy; all of them where it is not said.
 * @throws where the command does not end with one of the statuses.
 */
export async function copiedAtEffects(
  world: World,
  args: readonly string[],
  {
    at = /./,
    statuses = [0],
  }: { readonly at?: RegExp; readonly statuses?: readonly number[] } = {},
): Promise<Copies> {
  await quiet(world);
  const directory = mkdtempSync(join(tmpdir(), "guardloop-copies-"));
  copy(world.root, join(directory, "start"));
  const record = join(directory, "record");
  const settings = {
    CRASH_RECORD: record,
    CRASH_COPIES: join(directory, "at"),
    CRASH_COPY_AT: at.source,
  };
  mkdirSync(settings.CRASH_COPIES);
  const ended = await hooked(world, args, settings);
  if (ended.code === null || !statuses.includes(ended.code))
    throw new Error(`${args[0]} ended with ${ended.code}: ${ended.output}`);
  await quiet(world);
  const effects = readFileSync(record, "utf8").trim().split("\n");
  const points = effects.map((effect) => `before ${effect}`);
  const put = (from: string): void => {
    rmSync(world.root, { recursive: true, force: true });
    copy(from, world.root);
  };
  return {
    points,
    restore(point) {
      const index = points.indexOf(point);
      if (index === -1) throw new Error(`${args[0]} never came to ${point}`);
      put(join(settings.CRASH_COPIES, String(index)));
    },
    restoreStart: () => put(join(directory, "start")),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** With modes, times and links; the target is not there yet. */
function copy(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
}
