import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { Git } from "./git.ts";
import { logRows } from "./log-rows.ts";

export interface CommitMessage {
  readonly commit: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly message: string;
}

/** Whole messages of the commits after `from` up to `to`, with who wrote them, oldest first. */
export async function commitMessages(
  git: Git,
  from: string,
  to: string,
): Promise<Result<readonly CommitMessage[], Failure>> {
  // Names cannot hold a line feed: Git itself ends them there.
  const rows = await logRows(git, { from, to }, "%H%n%an%n%ae%n%B");
  if (!rows.ok) return rows;
  return ok(
    rows.value.map((row) => {
      const [commit = "", authorName = "", authorEmail = "", ...message] = row.split("\n");
      return { commit, authorName, authorEmail, message: message.join("\n") };
    }),
  );
}
