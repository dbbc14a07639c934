import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, isAbsolute } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { visible } from "../core/visible.ts";
import { type UserGit, userGit } from "./git.ts";

/** The working tree the user works in, and the repository it belongs to. */
export interface Principal {
  readonly git: UserGit;
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

/** A repository as one look at it showed it. */
export interface FoundRepository {
  readonly principal: Principal;
  /** Undefined where HEAD leads to no commit, or is not on a branch: `readHead` says which. */
  readonly seen: SeenRepository | undefined;
}

export interface SeenRepository extends RepositoryFormat {
  readonly head: Head;
}

export interface RepositoryFormat {
  readonly isShallow: boolean;
  /** `sha1`, for example. */
  readonly objectFormat: string;
}

/** One call answers all of it, in this order; what fails ends the answer there. */
const QUESTIONS = [
  "--path-format=absolute",
  "--show-toplevel",
  "--absolute-git-dir",
  "--git-common-dir",
  "--is-shallow-repository",
  "--show-object-format",
  "HEAD^{commit}",
  "--symbolic-full-name",
  "HEAD",
];

/**
 * Finds the repository that `cwd` lies in, and looks where its HEAD is.
 *
 * @returns `not-a-repository` outside of a work tree, and in a bare repository.
 */
export async function findRepository(
  program: string,
  env: HostEnvironment,
  cwd: string,
): Promise<Result<FoundRepository, Failure>> {
  const git = userGit(program, env, cwd);
  const answer = await git.exec(["rev-parse", ...QUESTIONS]);
  const lines = answer.stdout.toString("utf8").split("\n");
  const [topLevel = "", gitDir = "", commonDir = ""] = lines;
  if (answer.code !== 0 && topLevel === "")
    return fail("not-a-repository", explainNoRepository(cwd, answer.stderr));
  // Git separates its answers by line feeds, and a path can have one.
  const isOneLineEach = !cwd.includes("\n") && /^(?:true|false)$/.test(lines[3] ?? "");
  if (!isOneLineEach || ![topLevel, gitDir, commonDir].every(isAbsolute))
    return fail(
      "unsupported-repository",
      `${visible(cwd, "one-line")}: the path of the work tree or of its repository has a line feed, with which guardloop does not work.`,
      { cure: "Rename the directory." },
    );
  const real = await realpath(commonDir);
  const principal = {
    git: topLevel === cwd ? git : git.within(topLevel),
    topLevel,
    gitDir,
    commonDir: real,
    repositoryId: createHash("sha256").update(real).digest("hex").slice(0, 12),
    name: basename(topLevel),
  };
  return ok({ principal, seen: answer.code === 0 ? seenIn(lines.slice(3)) : undefined });
}

/** Undefined for whatever is not as usual: then it is asked again, in the words that a refusal needs. */
function seenIn(lines: readonly string[]): SeenRepository | undefined {
  const [shallow, objectFormat = "", commit = "", ref = "", end] = lines;
  const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
  const isUsual = lines.length === 5 && end === "" && /^(?:true|false)$/.test(shallow ?? "");
  if (!isUsual || branch === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const head = { commit, branchRef: ref, branch };
  return { isShallow: shallow === "true", objectFormat, head };
}

/** The same without HEAD. */
export async function openPrincipal(
  ...at: Parameters<typeof findRepository>
): Promise<Result<Principal, Failure>> {
  const found = await findRepository(...at);
  return found.ok ? ok(found.value.principal) : found;
}

/** Where HEAD was a moment ago, or is now. */
export function headOf({ principal, seen }: FoundRepository): Promise<Result<Head, Failure>> {
  return seen === undefined ? readHead(principal) : Promise.resolve(ok(seen.head));
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
