import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";

/** One thing that was looked at, with what is wrong with it. */
export interface Check {
  readonly name: string;
  readonly verdict: "ok" | "warning" | "problem";
  readonly text: string;
  /** What a person can do; null when there is nothing, or `mend` does it. */
  readonly cure: string | null;
  /** What `--fix` would do about it; undefined where only a person can know. */
  readonly mend?: Mend;
}

/** Something safe to do. Several checks may share one; it is done once. */
export interface Mend {
  /** Completes the sentence "--fix would …". */
  readonly will: string;
  /** Does it; gives a sentence for each thing that was done. May be called again. */
  readonly act: () => Promise<Result<readonly string[], Failure>>;
}

export function good(name: string, text: string): Check {
  return { name, verdict: "ok", text, cure: null };
}

export function warning(name: string, text: string, way: Mend | string | null): Check {
  const check = { name, verdict: "warning", text } as const;
  if (way === null || typeof way === "string") return { ...check, cure: way };
  return { ...check, cure: null, mend: way };
}

export function problem(name: string, failure: Failure, mend?: Mend): Check {
  const details =
    failure.details.length === 0 ? "" : ` (${failure.details.slice(0, 3).join("; ")})`;
  const text = `${failure.message}${details}`;
  const check = { name, verdict: "problem", text, cure: failure.cure } as const;
  return mend === undefined ? check : { ...check, mend };
}

/** A check that a Result already made. */
export function verdictOf<T>(
  name: string,
  result: Result<T, Failure>,
  say: (value: T) => string,
): Check {
  return result.ok ? good(name, say(result.value)) : problem(name, result.error);
}
