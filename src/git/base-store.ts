import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import type { Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput, gitText, sealedGit } from "./git.ts";

/** Who makes a repository of our own: the program, and the environment that its own is built from. */
export interface GitMaker {
  /** Absolute path of the git program. */
  readonly program: string;
  readonly env: HostEnvironment;
}

/** Makes a bare repository of our own. May be called again. */
export async function initBare(
  { program, env }: GitMaker,
  directory: string,
): Promise<Result<Git, Failure>> {
  await mkdir(directory, { recursive: true });
  const git = sealedGit(program, env, directory);
  const init = ["init", "--bare", "--quiet", "--template=", "--initial-branch=base"];
  const made = await gitOutput(git, init);
  return made.ok ? ok(git) : made;
}

export interface Reachable {
  /** Bare repository of our own that gets the objects. */
  readonly storeDir: string;
  readonly from: string;
  /** Nothing that can be reached from this commit is taken. */
  readonly butNot?: string | undefined;
}

/**
 * Puts the objects that can be reached from a commit, and nothing else, into a store, as one pack. May be called
 * again: the pack's name is its content.
 */
export async function packReachable(
  source: Git,
  { storeDir, from, butNot }: Reachable,
): Promise<Result<void, Failure>> {
  const objects = await gitText(source, [
    "rev-parse",
    "--path-format=absolute",
    "--git-path",
    "objects",
  ]);
  if (!objects.ok) return objects;
  const into = join(storeDir, "objects");
  const packed = await gitOutput(
    source,
    ["pack-objects", "--revs", "--delta-base-offset", "-q", join(into, "pack/pack")],
    {
      // A pack is begun in the repository's own object directory and then renamed, which fails where the state
      // directory is on another file system.
      objects: { into, from: objects.value },
      stdin: `${from}\n${butNot === undefined ? "" : `^${butNot}\n`}`,
      deadlineMs: DEADLINES.gitLongMs,
    },
  );
  return packed.ok ? ok(undefined) : packed;
}

/** Whether all that can be reached from `older` can be reached from `newer` too. */
export async function isAncestor(source: Git, older: string, newer: string): Promise<boolean> {
  if (older === newer) return true;
  const args = ["merge-base", "--is-ancestor", older, newer];
  return (await source.exec(args, { deadlineMs: DEADLINES.gitLongMs })).code === 0;
}
