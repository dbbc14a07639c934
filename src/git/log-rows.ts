import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

/**
 * One text a commit after `from` up to `to`, oldest first, as git-log(1) formats it; nothing of the user's settings
 * has a say in it.
 */
export async function logRows(
  git: Git,
  range: { readonly from: string; readonly to: string },
  format: string,
): Promise<Result<readonly string[], Failure>> {
  const log = await gitOutput(
    git,
    [
      "log",
      "--reverse",
      "-z",
      "--no-show-signature",
      "--no-color",
      "--no-mailmap",
      "--encoding=UTF-8",
      `--format=${format}`,
      `${range.from}..${range.to}`,
    ],
    { maxOutputBytes: 256 * 1024 * 1024 },
  );
  if (!log.ok) return log;
  const rows = log.value.toString("utf8").split("\0");
  return ok(rows.filter((row) => row !== ""));
}
