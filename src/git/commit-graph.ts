import type { Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput, gitText } from "./git.ts";

const LONG = { deadlineMs: DEADLINES.gitLongMs, maxOutputBytes: 1024 * 1024 * 1024 };

/**
 * The part of the history in which some commits differ, for asking many questions about it without a process for each
 * (`%(ahead-behind)` of for-each-ref would do, but is newer than the oldest Git we support).
 */
export interface CommitGraph {
  /** Whether the repository still has the commit. */
  readonly has: (commit: string) => boolean;
  /** How many commits each side has that the other has not; null when one of them is gone. */
  readonly distance: (
    one: string,
    other: string,
  ) => { readonly ahead: number; readonly behind: number } | null;
  /** Whether a commit is reachable from another; false when one of them is gone. */
  readonly contains: (whole: string, part: string) => boolean;
  /** How many commits lie after a base on a line without merges; null when there is no such line. */
  readonly lengthSince: (base: string, tip: string) => number | null;
}

/** Reads it in three calls of Git, however many commits are named. Ids of commits that are gone are allowed. */
export async function commitGraph(
  git: Git,
  commits: readonly string[],
): Promise<Result<CommitGraph, Failure>> {
  const present = await presentOf(git, [...new Set(commits)]);
  if (!present.ok) return present;
  const points = [...present.value];
  if (points.length === 0) return ok(graphOf(new Map(), new Set()));
  // What every one of them has in common need not be looked at; without a common ancestor that is nothing.
  const common = await git.exec(["merge-base", "--octopus", ...points], LONG);
  const below = common.code === 0 ? `^${common.stdout.toString("utf8").trim()}\n` : "";
  const listed = await gitText(git, ["rev-list", "--parents", "--stdin"], {
    ...LONG,
    stdin: `${points.join("\n")}\n${below}`,
  });
  if (!listed.ok) return listed;
  const parents = new Map<string, readonly string[]>();
  for (const row of listed.value.split("\n")) {
    const [commit = "", ...its] = row.split(" ");
    if (commit !== "") parents.set(commit, its);
  }
  return ok(graphOf(parents, present.value));
}

async function presentOf(
  git: Git,
  commits: readonly string[],
): Promise<Result<ReadonlySet<string>, Failure>> {
  if (commits.length === 0) return ok(new Set());
  const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const found = await gitOutput(git, args, { ...LONG, stdin: `${commits.join("\n")}\n` });
  if (!found.ok) return found;
  const rows = found.value.toString("utf8").split("\n");
  return ok(
    new Set(
      rows.flatMap((row) => (row.endsWith(" commit") ? [row.slice(0, -" commit".length)] : [])),
    ),
  );
}

type Parents = ReadonlyMap<string, readonly string[]>;

/** @param parents of the commits above what all have in common; a commit that is not in it lies below, in all of them. */
function graphOf(parents: Parents, present: ReadonlySet<string>): CommitGraph {
  // Few: the branches that others are compared with. Sets of every branch would not fit into memory.
  const wholes = new Map<string, ReadonlySet<string>>();
  const reachable = (from: string): ReadonlySet<string> => {
    const before = wholes.get(from) ?? walk(parents, [from]).found;
    wholes.set(from, before);
    return before;
  };
  const sizeOf = ancestorCounter(parents);
  return {
    has: (commit) => present.has(commit),
    distance(one, other) {
      if (!present.has(one) || !present.has(other)) return null;
      const theirs = reachable(other);
      const { found, edge } = walk(parents, [one], theirs);
      const [first, ...more] = edge;
      const shared =
        first === undefined
          ? 0
          : more.length === 0
            ? sizeOf(first)
            : walk(parents, [...edge]).found.size;
      return { ahead: found.size, behind: theirs.size - shared };
    },
    contains(whole, part) {
      if (!present.has(whole) || !present.has(part)) return false;
      return !parents.has(part) || reachable(whole).has(part);
    },
    lengthSince(base, tip) {
      let length = 0;
      for (let at = tip; at !== base; length += 1) {
        const [parent, ...others] = parents.get(at) ?? [];
        if (parent === undefined || others.length > 0) return null;
        at = parent;
      }
      return length;
    },
  };
}

/** Everything reachable; where a set to stop at is given, without it, and with the commits at which it was met. */
function walk(parents: Parents, from: readonly string[], stop: ReadonlySet<string> = new Set()) {
  const found = new Set<string>();
  const edge = new Set<string>();
  const open = [...from];
  for (let commit = open.pop(); commit !== undefined; commit = open.pop()) {
    const its = parents.get(commit);
    if (its === undefined || found.has(commit)) continue;
    if (stop.has(commit)) edge.add(commit);
    else {
      found.add(commit);
      open.push(...its);
    }
  }
  return { found, edge };
}

/** Counts ancestors, the commit included; along a line each count is one more than the one before it. */
function ancestorCounter(parents: Parents): (commit: string) => number {
  const counts = new Map<string, number>();
  return (commit) => {
    const line: string[] = [];
    let at: string | undefined = commit;
    let below = 0;
    while (at !== undefined) {
      const its: readonly string[] | undefined = parents.get(at);
      const isMerge = its !== undefined && its.length > 1;
      below = counts.get(at) ?? (isMerge ? walk(parents, [at]).found.size : 0);
      if (its === undefined || below > 0) break;
      line.push(at);
      [at] = its;
    }
    if (at !== undefined && below > 0) counts.set(at, below);
    for (const one of line.toReversed()) counts.set(one, (below += 1));
    return below;
  };
}
