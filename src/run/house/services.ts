import type { HostEnvironment } from "../../core/environment.ts";
import type { Engine } from "../../engine/port.ts";
import type { MeasuredSize } from "../../files/measured-size.ts";
import { measureSize } from "../../files/measured-size.ts";
import type { Principal } from "../../git/principal.ts";
import type { History } from "../../history/port.ts";

/** How long what is kept; days, and Infinity for ever. */
export interface Retention {
  readonly branchDays: number;
  readonly recordDays: number;
  /** Since the last use of a setup result or cache. */
  readonly setupDays: number;
  readonly poolDays: number;
  /** Free worktrees that stay, those used last. */
  readonly poolWorktrees: number;
}

/** A repository that is looked after, with its own settings: its file may have asked for longer times. */
export interface HouseRepository {
  readonly principal: Principal;
  readonly retention: Retention;
}

export interface HouseServices {
  readonly env: HostEnvironment;
  /** Absolute path of git. */
  readonly gitProgram: string;
  readonly history: History;
  /** Those that answer. */
  readonly engines: readonly Engine[];
  readonly repositories: readonly HouseRepository[];
  /** For what belongs to no repository. */
  readonly retention: Retention;
  /** The image that runs are told to use by the settings in force. */
  readonly image: string;
  readonly now: () => Date;
}

const DAY_MS = 24 * 60 * 60_000;
/** Enough for a worktree with installed packages; beyond it the size is said to be "at least". */
const SIZE_LIMIT_ENTRIES = 200_000;

/** Whether something is older than so many days. A time that cannot be read is never old enough, nor is one after "never". */
export function isPast(sinceMs: number, days: number, now: Date): boolean {
  return Number.isFinite(days) && sinceMs + days * DAY_MS <= now.getTime();
}

export function sizeOf(path: string): Promise<MeasuredSize> {
  return measureSize(path, SIZE_LIMIT_ENTRIES);
}
