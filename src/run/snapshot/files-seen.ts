import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Git } from "../../git/git.ts";
import type { Principal } from "../../git/principal.ts";
import { listPaths } from "../../git/read-files.ts";
import { isSecretPath } from "../../policy/secrets.ts";
import { judgeOverlay } from "./overlay.ts";

/** What of `.env` and its like a container will see, as the principal checkout is now. */
export interface FilesSeen {
  /** Files of the commit whose names look like credentials: Git has them, so the container has them. */
  readonly inCommit: readonly string[];
  /** Files that Git does not track and that a rule lets in. */
  readonly letIn: readonly { readonly path: string; readonly rule: string }[];
  /** Those that are kept out because they look like credentials. */
  readonly keptOut: readonly { readonly path: string; readonly rule: string }[];
  /** How many others are kept out; a directory that is kept out whole counts once. */
  readonly othersKeptOut: number;
}

export const NO_FILES: FilesSeen = { inCommit: [], letIn: [], keptOut: [], othersKeptOut: 0 };

export interface LookAtFiles {
  readonly gitProgram: string;
  readonly env: HostEnvironment;
  readonly principal: Pick<Principal, "git" | "topLevel">;
  readonly commit: string;
  /** The overlay's rules. */
  readonly include: readonly string[];
}

/** Files of a commit whose names look like credentials. */
export async function secretPathsIn(
  git: Git,
  commit: string,
): Promise<Result<readonly string[], Failure>> {
  const paths = await listPaths(git, commit);
  return paths.ok ? ok(paths.value.filter((path) => isSecretPath(path))) : paths;
}

/** Looks at the commit and at the principal checkout; changes nothing. A leased worktree may hold other files. */
export async function lookAtFiles(at: LookAtFiles): Promise<Result<FilesSeen, Failure>> {
  const inCommit = await secretPathsIn(at.principal.git, at.commit);
  if (!inCommit.ok) return inCommit;
  const rules = { program: at.gitProgram, env: at.env, include: at.include };
  const judged = await judgeOverlay(rules, at.principal.topLevel);
  if (!judged.ok) return judged;
  const files = judged.value;
  const only = (kind: "in" | "secret") =>
    files.filter((one) => one.kind === kind).map(({ path, rule }) => ({ path, rule }));
  return ok({
    inCommit: inCommit.value,
    letIn: only("in"),
    keptOut: only("secret"),
    othersKeptOut: files.filter(({ kind }) => kind === "out").length,
  });
}
