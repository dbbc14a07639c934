import { must } from "./git.ts";
import type { Exclude } from "./exclude.ts";
import { gitFileTarget } from "./head.ts";
import { nulSeparated, pathBytes, pathText } from "./nul-separated.ts";
import type { OwnIndex } from "./own-index.ts";

const ROUNDS = 20;
const PLACEHOLDER = ".guardloop-reveal";

/** What was done about the repositories that the agent made inside the workspace. */
export interface Nested {
  /** Their files are recorded like any other file. */
  readonly revealed: readonly string[];
  /** Further worktrees of the workspace's own repository, and moved-away .git data: left out. */
  readonly leftOut: readonly string[];
}

/**
 * A repository inside the workspace would be recorded as a link to a commit that exists nowhere else, so its
 * files would be lost. This makes Git record the files: a directory with an entry in the index is an ordinary one
 * for `git add`, and the entry itself, which has no file, goes away with the same `git add -A`. The repositories'
 * histories are not kept.
 */
export async function revealNested(
  index: OwnIndex,
  workspace: string,
  exclude: Exclude,
): Promise<Nested> {
  const revealed: string[] = [];
  const leftOut: string[] = [];
  const seen = new Set<string>();
  const leaveOut = (path: string): void => {
    seen.add(path);
    leftOut.push(path);
    exclude.add(path);
  };
  const movedAway = gitFileTarget(workspace, "");
  if (movedAway !== undefined) leaveOut(Buffer.from(movedAway).toString("latin1"));
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = (await embeddedRepositories(index)).filter((path) => !seen.has(path));
    if (found.length === 0) break;
    for (const path of found) {
      const target = gitFileTarget(workspace, pathText(path));
      if (target?.startsWith(".git/worktrees/") === true) leaveOut(path);
      else revealed.push(path);
      seen.add(path);
    }
    await placePlaceholders(index, revealed);
  }
  return { revealed, leftOut };
}

/** Untracked directories that are repositories: ls-files shows them, and only them, with a slash at the end. */
async function embeddedRepositories(index: OwnIndex): Promise<readonly string[]> {
  const found: string[] = [];
  const stdout = nulSeparated((path) => {
    if (path.endsWith("/")) found.push(path.slice(0, -1));
  });
  await must(index.git, ["ls-files", "-z", "--others", "--exclude-standard"], {
    ...index.view,
    stdout,
  });
  return found;
}

async function placePlaceholders(index: OwnIndex, directories: readonly string[]): Promise<void> {
  const { git, view } = index;
  const empty = await must(git, ["hash-object", "-w", "--stdin"], { stdin: "" });
  const entry = `100644 ${empty.toString("utf8").trim()}\t`;
  const lines = directories.map((directory) => `${entry}${directory}/${PLACEHOLDER}\0`);
  await must(git, ["update-index", "-z", "--add", "--index-info"], {
    ...view,
    stdin: pathBytes(lines.join("")),
  });
}
