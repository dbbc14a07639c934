import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, userGit } from "./git.ts";

/** The working tree the user works in, and the repository it belongs to. */
export interface Principal {
  readonly git: Git;
  /** Absolute path of the work tree's root. */
  readonly topLevel: string;
  /** This work tree's own Git directory; in a linked worktree it lies below `commonDir`. */
  readonly gitDir: string;
  /** The repository's Git directory, shared by all its worktrees; real path. */
  readonly commonDir: string;
  /** Names the repository on this machine: the first 12 hex digits of the SHA-256 of `commonDir`. */
  readonly repositoryId: string;
  readonly name: string;
}

/**
 * Finds the repository that `cwd` lies in.
 *
 * @returns `not-a-repository` outside of a work tree, and in a bare repository.
 */
export async function openPrincipal(
  program: string,
  env: HostEnvironment,
  cwd: string,
): Promise<Result<Principal, Failure>> {
  const git = userGit(program, env, cwd);
  const paths = await git.exec([
    "rev-parse",
    "--path-format=absolute",
    "--show-toplevel",
    "--absolute-git-dir",
    "--git-common-dir",
  ]);
  if (paths.code !== 0) return fail("not-a-repository", explainNoRepository(cwd, paths.stderr));
  const [topLevel, gitDir, commonDir] = paths.stdout.toString("utf8").split("\n");
  if (topLevel === undefined || gitDir === undefined || commonDir === undefined)
    return fail("not-a-repository", `${cwd}: Git's answer about the repository cannot be read.`);
  const real = await realpath(commonDir);
  return ok({
    // The same one, where it is bound there already: it has asked for hooks that have a name.
    git: topLevel === cwd ? git : userGit(program, env, topLevel),
    topLevel,
    gitDir,
    commonDir: real,
    repositoryId: createHash("sha256").update(real).digest("hex").slice(0, 12),
    name: basename(topLevel),
  });
}

function explainNoRepository(cwd: string, stderr: Buffer): string {
  const said = stderr.toString("utf8").trim().split("\n")[0] ?? "";
  if (/must be run in a work tree/.test(said)) return `${cwd} is a bare repository.`;
  if (/dubious ownership/.test(said))
    return `${cwd} belongs to another user, and Git refuses to work in it: ${said}`;
  return `${cwd} is not inside a Git working tree.`;
}

export interface Head {
  readonly commit: string;
  /** Full ref name, `refs/heads/…`. */
  readonly branchRef: string;
  readonly branch: string;
}

/** The commit the principal checkout is at, on a branch or not; refuses a repository without commits. */
export async function readHeadCommit(principal: Principal): Promise<Result<string, Failure>> {
  const commit = await principal.git.exec(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (commit.code !== 0) return fail("no-commit", `${principal.topLevel} has no commit yet.`);
  return ok(commit.stdout.toString("utf8").trim());
}

/** The commit and branch the principal checkout is at; refuses a detached HEAD and a repository without commits. */
export async function readHead(principal: Principal): Promise<Result<Head, Failure>> {
  const [commit, ref] = await Promise.all([
    readHeadCommit(principal),
    principal.git.exec(["symbolic-ref", "--quiet", "HEAD"]),
  ]);
  if (!commit.ok) return commit;
  if (ref.code !== 0)
    return fail("detached-head", `${principal.topLevel} is at a detached HEAD, not on a branch.`);
  const branchRef = ref.stdout.toString("utf8").trim();
  if (!branchRef.startsWith("refs/heads/"))
    return fail("detached-head", `HEAD points at ${branchRef}, which is not a branch.`);
  return ok({
    commit: commit.value,
    branchRef,
    branch: branchRef.slice("refs/heads/".length),
  });
}
