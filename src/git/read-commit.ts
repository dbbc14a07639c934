import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput, gitText } from "./git.ts";

/** A commit with one parent, as its object has it. */
export interface SeriesCommit {
  readonly id: string;
  readonly parent: string;
  readonly author: { readonly name: string; readonly email: string; readonly date: string };
  /** Seconds after the epoch. */
  readonly committedAt: number;
  /** Byte for byte. */
  readonly message: Buffer;
  /** The first line of the message; to be escaped when shown. */
  readonly subject: string;
}

/**
 * The commits after `base` up to `head`, oldest first.
 *
 * @returns `git-failed` where one is a merge: an import makes none, so somebody else made it.
 */
export async function readSeries(
  git: Git,
  range: { readonly base: string; readonly head: string },
): Promise<Result<readonly SeriesCommit[], Failure>> {
  const listed = await gitText(git, [
    "rev-list",
    "--reverse",
    "--topo-order",
    `${range.base}..${range.head}`,
  ]);
  if (!listed.ok) return listed;
  const commits: SeriesCommit[] = [];
  for (const id of listed.value.split("\n").filter((line) => line !== "")) {
    const commit = await readCommit(git, id);
    if (!commit.ok) return commit;
    const { parents, ...rest } = commit.value;
    const [parent, ...more] = parents;
    if (parent === undefined || more.length > 0)
      return fail("git-failed", `The commit ${id.slice(0, 12)} has not exactly one parent.`);
    commits.push({ ...rest, parent });
  }
  return ok(commits);
}

/** One commit, from its object. */
export async function readCommit(
  git: Git,
  id: string,
): Promise<
  Result<Omit<SeriesCommit, "parent"> & { readonly parents: readonly string[] }, Failure>
> {
  const raw = await gitOutput(git, ["cat-file", "commit", id], {
    deadlineMs: DEADLINES.gitQuickMs,
  });
  if (!raw.ok) return raw;
  const end = raw.value.indexOf("\n\n");
  const head = (end < 0 ? raw.value : raw.value.subarray(0, end)).toString("utf8").split("\n");
  const message = end < 0 ? Buffer.alloc(0) : raw.value.subarray(end + 2);
  const fields = (name: string): readonly string[] =>
    head.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
  const author = parseIdentity(fields("author")[0] ?? "");
  const committer = parseIdentity(fields("committer")[0] ?? "");
  return ok({
    id,
    parents: fields("parent"),
    author,
    committedAt: Number(committer.date.split(" ")[0]) || 0,
    message,
    subject: message.toString("utf8").trimStart().split("\n")[0] ?? "",
  });
}

/** Git's form `Name <address> seconds zone`; a name that is missing is replaced, since Git would refuse none. */
export function parseIdentity(text: string): SeriesCommit["author"] {
  const match = /^(.*?) ?<([^>]*)> (\d+ [+-]\d{4})$/.exec(text);
  const [, name = "", email = "", date = "0 +0000"] = match ?? [];
  return { name: name === "" ? "unknown" : name, email, date };
}
