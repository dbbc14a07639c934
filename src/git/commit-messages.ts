import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { Git } from "./git.ts";
import { logRows } from "./log-rows.ts";

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
  const rows = await logRows(git, { from, to }, "%H%n%B");
  if (!rows.ok) return rows;
  return ok(
    rows.value.map((row) => ({
      commit: row.slice(0, row.indexOf("\n")),
      message: row.slice(row.indexOf("\n") + 1),
    })),
  );
}
