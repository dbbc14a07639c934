import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

export interface CommitMessage {
  readonly commit: string;
  readonly message: string;
}

/** Whole messages of the commits after `from` up to `to`, oldest first. */
export async function commitMessages(
  git: Git,
  from: string,
  to: string,
): Promise<Result<readonly CommitMessage[], Failure>> {
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
      "--format=%H%n%B",
      `${from}..${to}`,
    ],
    { maxOutputBytes: 256 * 1024 * 1024 },
  );
  if (!log.ok) return log;
  const rows = log.value
    .toString("utf8")
    .split("\0")
    .filter((row) => row !== "");
  return ok(
    rows.map((row) => ({
      commit: row.slice(0, row.indexOf("\n")),
      message: row.slice(row.indexOf("\n") + 1),
    })),
  );
}
