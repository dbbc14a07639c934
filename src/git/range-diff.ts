import { type Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitText } from "./git.ts";

interface Range {
  readonly base: string;
  readonly head: string;
}

/** How two series of commits differ; lines of Git's range-diff, to be escaped when shown. */
export interface Comparison {
  readonly verdict: "same" | "changed";
  readonly lines: readonly string[];
}

const MAX_BYTES = 16 * 1024 * 1024;
/** A line about a pair of commits, for example `1:  abc1234 = 1:  def5678 Subject`. */
const PAIR = /^ *(?:\d+|-): +\S+ ([=!<>]) +(?:\d+|-): +\S+ /;

/** Compares a series of commits with its replay. To be called with a sealed Git: no attribute and no setting counts. */
export async function compareSeries(
  git: Git,
  before: Range,
  after: Range,
): Promise<Result<Comparison, Failure>> {
  const text = await gitText(
    git,
    [
      "range-diff",
      "--no-color",
      "--no-ext-diff",
      "--no-textconv",
      "--no-notes",
      // What belongs together is known: the second series is the first one, put elsewhere.
      "--creation-factor=100",
      `${before.base}..${before.head}`,
      `${after.base}..${after.head}`,
    ],
    { deadlineMs: DEADLINES.gitLongMs, maxOutputBytes: MAX_BYTES },
  );
  if (!text.ok) return text;
  const lines = text.value.split("\n").filter((line) => line !== "");
  const marks = lines.flatMap((line) => PAIR.exec(line)?.[1] ?? []);
  return ok({ verdict: marks.every((mark) => mark === "=") ? "same" : "changed", lines });
}
