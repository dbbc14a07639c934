import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitText } from "../git/git.ts";
import { gitIn } from "./git-in.ts";

/** Where HEAD is: the commit, and the branch it is attached to, or an empty string when it is detached. */
export interface HeadPosition {
  readonly commit: string;
  readonly attachedTo: string;
}

/** What is at a path that should be a worktree. */
export type Sighting =
  | {
      readonly owner: "ours";
      /** Its own Git directory, absolute: gitrepository-layout(5), `worktrees/<id>`. */
      readonly gitDir: string;
      readonly head: Result<HeadPosition, Failure>;
    }
  | { readonly owner: "absent" | "foreign" | "broken" };

const PLACES = [
  "rev-parse",
  "--path-format=absolute",
  "--show-toplevel",
  "--git-common-dir",
  "--git-dir",
];
const HEAD = ["HEAD^{commit}", "--symbolic-full-name", "HEAD"];

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
  const missing = await notADirectory(path);
  if (missing !== undefined) return missing;
  const answer = await gitText(gitIn(git, path), PLACES);
  return answer.ok ? ownerOf(answer.value.split("\n"), path, commonDir) : "broken";
}

/** The same together with where its HEAD is, in one start of git where all is well. */
export async function sight(git: Git, path: string, commonDir: string): Promise<Sighting> {
  const missing = await notADirectory(path);
  if (missing !== undefined) return { owner: missing };
  const here = gitIn(git, path);
  const answer = await gitText(here, [...PLACES, ...HEAD]);
  const lines = answer.ok ? answer.value.split("\n") : [];
  const position = positionIn(lines.slice(3));
  if (position !== undefined) {
    const owner = await ownerOf(lines.slice(0, 3), path, commonDir);
    return owner === "ours" ? { owner, gitDir: lines[2] ?? "", head: ok(position) } : { owner };
  }
  const places = await gitText(here, PLACES);
  if (!places.ok) return { owner: "broken" };
  const found = places.value.split("\n");
  const owner = await ownerOf(found, path, commonDir);
  if (owner !== "ours") return { owner };
  return { owner, gitDir: found[2] ?? "", head: await headPosition(here) };
}

async function notADirectory(path: string): Promise<"absent" | "broken" | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return "absent";
  return stat.isDirectory() ? undefined : "broken";
}

async function ownerOf(
  [top = "", common = "", gitDir = "", ...rest]: readonly string[],
  path: string,
  commonDir: string,
): Promise<"ours" | "foreign" | "broken"> {
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

/** Commit id of HEAD, and the branch it is attached to, or an empty string when it is detached. */
export async function headPosition(here: Git): Promise<Result<HeadPosition, Failure>> {
  const both = await gitText(here, ["rev-parse", ...HEAD]);
  const said = both.ok ? positionIn(both.value.split("\n")) : undefined;
  if (said !== undefined) return ok(said);
  // A tag or branch called HEAD makes the question above ambiguous; and what is wrong is said better by these.
  const commit = await gitText(here, ["rev-parse", "--verify", "HEAD^{commit}"]);
  if (!commit.ok) return commit;
  const branch = await here.exec(["symbolic-ref", "--quiet", "HEAD"]);
  return ok({ commit: commit.value, attachedTo: branch.stdout.toString("utf8").trim() });
}

/** What is attached to nothing is called by its own name. */
function positionIn(lines: readonly string[]): HeadPosition | undefined {
  const [commit = "", name = "", ...rest] = lines;
  if (rest.length > 0 || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  if (name === "HEAD") return { commit, attachedTo: "" };
  return /^refs\/\S+$/.test(name) ? { commit, attachedTo: name } : undefined;
}

async function samePlace(left: string, right: string): Promise<boolean> {
  return (await resolved(left)) === (await resolved(right));
}

async function resolved(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
