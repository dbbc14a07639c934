import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import type { MeasuredSize } from "../../files/measured-size.ts";

export const HOUSE_KINDS = [
  "trash",
  "snapshot",
  "record",
  "container",
  "image",
  "image build",
  "setup result",
  "setup cache",
  "base store",
  "base tree",
  "let-in files",
  "worktree",
  "branch",
  "ref",
  "lock",
  "history",
] as const;

export type HouseKind = (typeof HOUSE_KINDS)[number];

/** What is there, whether it may go or not. */
export interface Thing {
  readonly kind: HouseKind;
  /** A path, a ref, the name of a container or the id of an image. May hold text from outside. */
  readonly what: string;
  /** The run it belongs to; null where there is none. */
  readonly run: string | null;
  /** Top of the repository it belongs to; null where it belongs to none, or to one that is gone. */
  readonly repository: string | null;
  /** Completes "it may go, because …" or "it stays, because …". */
  readonly why: string;
}

/** Something that may go. */
export interface HouseItem extends Thing {
  /** Null where it takes next to nothing, or nobody tells. */
  readonly size: MeasuredSize | null;
  /** `by-hand`: only when a person says so, never by automatic retention. */
  readonly when: "any-time" | "by-hand";
  /**
   * Removes it if what was found still holds: everything is judged again under the locks that a run or a decision
   * would take. May be called again after a crash at any point.
   *
   * @returns `kept` when it is in use or worth something by now, or gone already.
   */
  readonly remove: () => Promise<Result<"removed" | "kept", Failure>>;
}

/** What a look around found. */
export interface Survey {
  readonly items: readonly HouseItem[];
  /** What is old enough to be asked about, and stays. */
  readonly kept: readonly Thing[];
  /** What could not be looked at, a sentence each. */
  readonly problems: readonly string[];
}

export const NOTHING: Survey = { items: [], kept: [], problems: [] };

export function together(surveys: readonly Survey[]): Survey {
  return {
    items: surveys.flatMap(({ items }) => items),
    kept: surveys.flatMap(({ kept }) => kept),
    problems: surveys.flatMap(({ problems }) => problems),
  };
}
