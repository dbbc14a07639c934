import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { gitOutput } from "./git.ts";
import type { Principal } from "./principal.ts";

const LARGE = { maxOutputBytes: 256 * 1024 * 1024 };

/**
 * Files that Git does not track and that would be lost when it goes to a commit: `git reset` overwrites ignored files
 * without a word (only `git merge` has a flag against it).
 *
 * @returns paths from the top of the work tree; empty when nothing is in the way.
 */
export async function filesInTheWay(
  principal: Principal,
  commit: string,
): Promise<Result<readonly string[], Failure>> {
  const names = ["-r", "-z", "--no-renames", "--name-only", "--diff-filter=A"];
  const paths = await listOf(principal, ["diff-tree", ...names, "HEAD", commit]);
  if (!paths.ok) return paths;
  if (paths.value.length === 0) return ok([]);
  const others = await listOf(principal, ["ls-files", "--others", "-z"]);
  if (!others.ok) return others;
  const files = new Set(paths.value);
  const directories = new Set(paths.value.flatMap(parentsOf));
  const lost = others.value
    .map((other) => other.replace(/\/$/, ""))
    .filter(
      (other) =>
        files.has(other) ||
        directories.has(other) ||
        parentsOf(other).some((parent) => files.has(parent)),
    );
  return ok(lost.map((path) => Buffer.from(path, "latin1").toString("utf8")));
}

/** As Latin-1, which keeps every byte of a name. */
async function listOf(
  principal: Principal,
  args: readonly string[],
): Promise<Result<readonly string[], Failure>> {
  const listed = await gitOutput(principal.git, args, LARGE);
  if (!listed.ok) return listed;
  const paths = listed.value.toString("latin1").split("\0");
  return ok(paths.filter((path) => path !== ""));
}

function parentsOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
