import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Failure } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type Git, gitOutput, gitText } from "../git/git.ts";

/** What a worktree must be before it is handed out. */
export interface Expected {
  readonly path: string;
  /** Common Git directory of the repository that the lease is for. */
  readonly commonDir: string;
  readonly base: string;
}

/** Git that works in another directory; a directory that is not there is git's complaint, not an exception. */
export function gitIn(git: Git, path: string): Git {
  return { exec: (args, options) => git.exec(["-C", path, ...args], options) };
}

/** Git that does not start any more once the lease's file is gone: its worktree may be somebody else's then. */
export function fenced(git: Git, fence: string): Git {
  return { exec: (args, options) => git.exec(args, { ...options, onlyWhile: fence }) };
}

/**
 * Whose worktree is this? `ours` means: the top of a worktree that shares our repository's common Git directory.
 *
 * Ask this before anything that writes. A worktree that lost its `.git` file silently becomes a part of whatever
 * repository lies above it, and `git clean` would then delete there.
 */
export async function ownership(
  git: Git,
  path: string,
  commonDir: string,
): Promise<"ours" | "absent" | "foreign" | "broken"> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return "absent";
  if (!stat.isDirectory()) return "broken";
  const answer = await gitText(gitIn(git, path), [
    "rev-parse",
    "--path-format=absolute",
    "--show-toplevel",
    "--git-common-dir",
    "--git-dir",
  ]);
  if (!answer.ok) return "broken";
  const [top = "", common = "", gitDir = "", ...rest] = answer.value.split("\n");
  if (rest.length > 0 || !(await samePlace(top, path))) return "broken";
  if (!(await samePlace(common, commonDir))) return "foreign";
  return (await samePlace(await registeredPath(gitDir), path)) ? "ours" : "broken";
}

/**
 * Where a worktree's registration says the worktree is (gitrepository-layout(5), `worktrees/<id>/gitdir`). After a
 * prune another worktree can get the same id; both would then share one HEAD and one index.
 */
async function registeredPath(gitDir: string): Promise<string> {
  const content = await readFile(join(gitDir, "gitdir"), "utf8").catch(() => undefined);
  return content === undefined ? "" : dirname(resolve(gitDir, content.trimEnd()));
}

/** Names the first thing that is not as promised, to follow the path in a sentence; undefined when all is well. */
export async function problemWith(git: Git, expected: Expected): Promise<string | undefined> {
  const owner = await ownership(git, expected.path, expected.commonDir);
  if (owner !== "ours") return explainOwnership(owner);
  const here = gitIn(git, expected.path);
  const position = await headPosition(here);
  if (!position.ok) return position.error.message;
  if (position.value.attachedTo !== "")
    return `is on ${position.value.attachedTo} instead of detached`;
  if (position.value.commit !== expected.base)
    return `is at ${position.value.commit} instead of ${expected.base}`;
  return uncleanness(here);
}

export function explainOwnership(owner: "absent" | "foreign" | "broken"): string {
  switch (owner) {
    case "absent":
      return "is not there";
    case "foreign":
      return "belongs to another repository";
    case "broken":
      return "is not a working Git worktree";
  }
}

/** What is attached to nothing is called by its own name. */
const BOTH = /^(?<commit>[0-9a-f]{40,64})\n(?:HEAD|(?<branch>refs\/\S+))\n$/;

/** Commit id of HEAD, and the branch it is attached to, or an empty string when it is detached. */
export async function headPosition(
  here: Git,
): Promise<Result<{ readonly commit: string; readonly attachedTo: string }, Failure>> {
  const both = await here.exec(["rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD"]);
  const said = both.code === 0 ? BOTH.exec(both.stdout.toString("utf8"))?.groups : undefined;
  if (said !== undefined)
    return ok({ commit: said["commit"] ?? "", attachedTo: said["branch"] ?? "" });
  // A tag or branch called HEAD makes the question above ambiguous; and what is wrong is said better by these.
  const commit = await gitText(here, ["rev-parse", "--verify", "HEAD^{commit}"]);
  if (!commit.ok) return commit;
  const branch = await here.exec(["symbolic-ref", "--quiet", "HEAD"]);
  return ok({ commit: commit.value, attachedTo: branch.stdout.toString("utf8").trim() });
}

/** Says what is changed or untracked (ignored files do not count); undefined when the worktree is clean. */
async function uncleanness(here: Git): Promise<string | undefined> {
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
  const status = await gitOutput(here, args);
  if (!status.ok) return status.error.message;
  const first = status.value.toString("utf8").split("\0")[0] ?? "";
  return first === "" ? undefined : `has changes, the first is ${JSON.stringify(first.slice(3))}`;
}

/** The full id of a commit the repository has. */
export async function commitId(git: Git, base: string): Promise<Result<string, Failure>> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`];
  const id = await gitText(git, args);
  return id.ok ? id : err(id.error);
}

async function samePlace(left: string, right: string): Promise<boolean> {
  return (await resolved(left)) === (await resolved(right));
}

async function resolved(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
