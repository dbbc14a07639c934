import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

/** Paths of all files in a commit, in Git's order. A name that is not UTF-8 comes with replacement characters. */
export async function listPaths(
  git: Git,
  commit: string,
): Promise<Result<readonly string[], Failure>> {
  const listed = await gitOutput(
    git,
    ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit],
    {
      maxOutputBytes: 256 * 1024 * 1024,
    },
  );
  if (!listed.ok) return listed;
  return ok(
    listed.value
      .toString("utf8")
      .split("\0")
      .filter((path) => path !== ""),
  );
}

/**
 * Reads a file of a commit as text, without touching a work tree.
 *
 * @returns undefined when the commit has no such file.
 */
export async function readFileAt(
  git: Git,
  commit: string,
  path: string,
): Promise<Result<string | undefined, Failure>> {
  const id = await git.exec([
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${commit}:${path}`,
  ]);
  if (id.code !== 0) return ok(undefined);
  const bytes = await gitOutput(git, ["cat-file", "blob", id.stdout.toString("utf8").trim()]);
  return bytes.ok ? ok(bytes.value.toString("utf8")) : bytes;
}
