import type { Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

/** A ref that leads to an agent's commits. */
export interface AgentRef {
  /** Full name. */
  readonly ref: string;
  readonly tip: string;
  /** Committer date of the tip, ISO 8601. */
  readonly committedAt: string;
  /** The ref that a symbolic one points to. Agent branches are never symbolic by our own doing. */
  readonly pointsTo: string | null;
}

/** The refs below some prefixes, all in one call. */
export async function agentRefs(
  git: Git,
  prefixes: readonly string[],
): Promise<Result<readonly AgentRef[], Failure>> {
  const format = "%(refname)%00%(objectname)%00%(committerdate:iso-strict)%00%(symref)";
  const listed = await gitOutput(git, ["for-each-ref", `--format=${format}`, ...prefixes]);
  if (!listed.ok) return listed;
  const rows = listed.value.toString("utf8").split("\n");
  return ok(
    rows
      .filter((row) => row !== "")
      .map((row) => {
        const [ref = "", tip = "", committedAt = "", pointsTo = ""] = row.split("\0");
        return { ref, tip, committedAt, pointsTo: pointsTo === "" ? null : pointsTo };
      }),
  );
}

/** The checked-out branches by full name, each with its work tree. */
export async function checkedOutBranches(
  git: Git,
): Promise<Result<ReadonlyMap<string, string>, Failure>> {
  const listed = await gitOutput(git, ["worktree", "list", "--porcelain", "-z"]);
  if (!listed.ok) return listed;
  const found = new Map<string, string>();
  for (const entry of listed.value.toString("utf8").split("\0\0")) {
    const lines = entry.split("\0");
    const path = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    const branch = lines.find((line) => line.startsWith("branch "))?.slice("branch ".length);
    if (path !== undefined && branch !== undefined) found.set(branch, path);
  }
  return ok(found);
}

export interface ChangeSize {
  readonly files: number;
  readonly addedLines: number;
  readonly deletedLines: number;
}

/**
 * How much differs between pairs of commits, all in one call.
 *
 * @returns by `to`; a pair without a difference, or one that Git does not know, is not in it.
 */
export async function changeSizes(
  git: Git,
  pairs: readonly { readonly from: string; readonly to: string }[],
): Promise<Result<ReadonlyMap<string, ChangeSize>, Failure>> {
  if (pairs.length === 0) return ok(new Map());
  // A commit followed by another one is compared with that one as if it were its parent.
  const stdin = pairs.map(({ from, to }) => `${to} ${from}\n`).join("");
  const args = ["diff-tree", "--stdin", "-r", "--shortstat", "--no-renames"];
  const output = await gitOutput(git, [...args, "--no-ext-diff", "--no-textconv"], {
    stdin,
    deadlineMs: DEADLINES.gitLongMs,
  });
  if (!output.ok) return output;
  const sizes = new Map<string, ChangeSize>();
  let commit = "";
  for (const line of output.value.toString("utf8").split("\n")) {
    if (/^[0-9a-f]{40,64}$/.test(line)) commit = line;
    else if (line !== "") sizes.set(commit, sizeIn(line));
  }
  return ok(sizes);
}

/** ` 2 files changed, 7 insertions(+), 1 deletion(-)` */
function sizeIn(line: string): ChangeSize {
  const number = (pattern: RegExp): number => Number(pattern.exec(line)?.[1] ?? 0);
  return {
    files: number(/(\d+) files? changed/),
    addedLines: number(/(\d+) insertion/),
    deletedLines: number(/(\d+) deletion/),
  };
}
