import type { Failure } from "../core/failures.ts";
import { type Result, err } from "../core/result.ts";
import { type Git, gitText } from "../git/git.ts";
import { gitIn } from "./git-in.ts";
import { type Sighting, explainOwnership, sight } from "./sighting.ts";
import { uncleanness, unwatched } from "./uncleanness.ts";

/** What a worktree must be before it is handed out. */
export interface Expected {
  readonly path: string;
  /** Common Git directory of the repository that the lease is for. */
  readonly commonDir: string;
  readonly base: string;
}

/** Names the first thing that is not as promised, to follow the path in a sentence; undefined when all is well. */
export async function problemWith(git: Git, expected: Expected): Promise<string | undefined> {
  const found = await sight(git, expected.path, expected.commonDir);
  return problemWithSighted(git, found, expected);
}

/** The same for a worktree that was looked at right before; only what it holds is still to be asked for. */
export async function problemWithSighted(
  git: Git,
  found: Sighting,
  expected: Expected,
): Promise<string | undefined> {
  if (found.owner !== "ours") return explainOwnership(found.owner);
  if (!found.head.ok) return found.head.error.message;
  const { commit, attachedTo } = found.head.value;
  if (attachedTo !== "") return `is on ${attachedTo} instead of detached`;
  if (commit !== expected.base) return `is at ${commit} instead of ${expected.base}`;
  const here = gitIn(git, expected.path);
  const [change, hidden] = await Promise.all([uncleanness(here, "look"), unwatched(here)]);
  return change ?? hidden;
}

/** The full id of a commit the repository has. */
export async function commitId(git: Git, base: string): Promise<Result<string, Failure>> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`];
  const id = await gitText(git, args);
  return id.ok ? id : err(id.error);
}
