import { join } from "node:path";
import type { PromotionWay } from "../../core/events.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { type Git, gitText } from "../../git/git.ts";
import { type Quarantine, makeQuarantine } from "../../git/quarantine.ts";
import { transferObjects } from "../../git/publish.ts";
import { type Comparison, compareSeries } from "../../git/range-diff.ts";
import { changedEntries } from "../../git/tree-check.ts";
import { runPaths } from "../paths.ts";
import type { DecisionServices, PublishedRun } from "./decision.ts";
import { type Rewritten, rebased, squashed } from "./rewrite.ts";

/** What a promotion would put on the branch. */
export interface Landing {
  readonly how: PromotionWay;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
  readonly tree: string;
  readonly commits: number;
  readonly files: number;
  /** Subjects of commits that are left out, since the branch has what they change already; to be escaped. */
  readonly dropped: readonly string[];
  /** How the rebased commits differ from the reviewed ones; null where there is nothing to compare. */
  readonly comparison: Comparison | null;
}

/** A landing with what sees its commits, until they are in the user's repository. */
export interface OpenLanding {
  readonly landing: Landing;
  readonly git: Git;
  /** Brings the commits into the user's repository; touches no ref. */
  readonly transfer: () => Promise<Result<void, Failure>>;
}

interface At {
  readonly run: PublishedRun;
  /** The commit of the principal checkout. */
  readonly head: string;
  readonly how: PromotionWay;
}

/**
 * Works out what would land, and acts on it while its commits can be seen. New commits are made in a quarantine that
 * is gone afterwards; the user's repository is not touched by that.
 */
export async function withLanding<T>(
  services: DecisionServices,
  at: At,
  act: (open: OpenLanding) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const { run, head, how } = at;
  // Landed already, or nothing came in between: the reviewed commits themselves will do.
  const fits = head === run.head || head === run.base;
  if (how === "fast-forward" || (how === "rebase" && fits)) {
    if (!fits) return refuseMoved(at);
    return asReviewed(services, at, act);
  }
  return withQuarantine(services, run.id, async (quarantine) => {
    const made =
      how === "rebase"
        ? await rebased(services, quarantine, at)
        : await squashed(services, quarantine, at);
    if (!made.ok) return made;
    const landing = await describe(quarantine.git, at, made.value);
    if (!landing.ok) return landing;
    const range = { base: head, tip: landing.value.after };
    return act({
      landing: landing.value,
      git: quarantine.git,
      transfer: () => transferObjects(quarantine, services.principal.git, range),
    });
  });
}

/** A quarantine in the run's record for new commits; gone afterwards. */
export async function withQuarantine<T>(
  services: DecisionServices,
  runId: string,
  act: (quarantine: Quarantine) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const dir = runPaths(services.env.stateDir, runId).landing;
  await removeTree(dir);
  try {
    const quarantine = await makeQuarantine({
      program: services.gitProgram,
      env: services.env,
      dir,
      objectsDir: join(services.principal.commonDir, "objects"),
    });
    return await act(quarantine);
  } finally {
    await removeTree(dir);
  }
}

async function asReviewed<T>(
  services: DecisionServices,
  at: At,
  act: (open: OpenLanding) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const { git } = services.principal;
  const { base, head } = at.run;
  const range = { ...at, head: base, how: "fast-forward" as const };
  const landing = await describe(git, range, { tip: head, dropped: [] });
  if (!landing.ok) return landing;
  return act({ landing: landing.value, git, transfer: async () => ok(undefined) });
}

async function describe(
  git: Git,
  { run, head, how }: At,
  { tip, dropped }: Rewritten,
): Promise<Result<Landing, Failure>> {
  const size = await sizeOf(git, head, tip);
  if (!size.ok) return size;
  const comparison =
    how === "rebase"
      ? await compareSeries(git, { base: run.base, head: run.head }, { base: head, head: tip })
      : ok(null);
  if (!comparison.ok) return comparison;
  return ok({
    how,
    branch: run.onto,
    before: head,
    after: tip,
    ...size.value,
    dropped,
    comparison: comparison.value,
  });
}

/** What a landing that is on record already had been, as far as Git still knows. */
export async function landed(
  git: Git,
  at: {
    readonly how: PromotionWay;
    readonly branch: string;
    readonly before: string;
    readonly after: string;
  },
): Promise<Result<Landing, Failure>> {
  const size = await sizeOf(git, at.before, at.after);
  if (!size.ok) return size;
  const { how, branch, before, after } = at;
  return ok({ how, branch, before, after, ...size.value, dropped: [], comparison: null });
}

async function sizeOf(
  git: Git,
  before: string,
  after: string,
): Promise<Result<Pick<Landing, "tree" | "commits" | "files">, Failure>> {
  const tree = await gitText(git, ["rev-parse", `${after}^{tree}`]);
  if (!tree.ok) return tree;
  const count = await gitText(git, ["rev-list", "--count", `${before}..${after}`]);
  if (!count.ok) return count;
  const changed = await changedEntries(git, before, after);
  if (!changed.ok) return changed;
  return ok({ tree: tree.value, commits: Number(count.value), files: changed.value.length });
}

function refuseMoved({ run, head }: At): Result<never, Failure> {
  const { id, onto, base, branch } = run;
  return fail(
    "promote-refused",
    `${onto} has moved since the run: it is at ${head.slice(0, 12)}, the run began at ${base.slice(0, 12)}.`,
    {
      cure: `Pass --rebase to put its commits on top (guardloop promote ${id} --rebase), or --squash to land them as one. As a last resort merge by hand: git merge ${branch}`,
    },
  );
}
