import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ARTIFACT } from "../../core/artifacts.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { visible } from "../../core/visible.ts";
import { gitText } from "../../git/git.ts";
import { type Quarantine, commitTree } from "../../git/quarantine.ts";
import { type SeriesCommit, readCommit, readSeries } from "../../git/read-commit.ts";
import { GUARDLOOP, replay } from "../../git/replay.ts";
import { refuseStep, refuseTreeSize } from "../../git/refuse-tree.ts";
import { hasAll, mergeTrees } from "../../git/three-way.ts";
import { importedMessage } from "../artifacts/imported-metadata.ts";
import { ownTrailers, withoutOwnTrailers } from "../artifacts/own-trailers.ts";
import { runPaths } from "../paths.ts";
import { readSpec } from "../stages/spec.ts";
import type { DecisionServices, PublishedRun } from "./decision.ts";

export interface Rewritten {
  readonly tip: string;
  /** Subjects of the commits that were left out. */
  readonly dropped: readonly string[];
}

interface At {
  readonly run: PublishedRun;
  readonly head: string;
}

/** The run's commits on top of another commit, checked like an import. */
export async function rebased(
  services: DecisionServices,
  quarantine: Quarantine,
  { run, head }: At,
): Promise<Result<Rewritten, Failure>> {
  const trees = { base: run.base, ours: head, theirs: run.head };
  const nothingLeft = await hasAll(quarantine.git, trees);
  if (!nothingLeft.ok) return nothingLeft;
  if (nothingLeft.value) return refuseNothingLeft(run);
  const series = await readSeries(services.principal.git, run);
  if (!series.ok) return series;
  const done = await replay(quarantine, {
    direction: "apply",
    commits: series.value,
    onto: head,
    committer: GUARDLOOP,
    notBefore: secondsOf(run.startedAt),
  });
  if (!done.ok) return done;
  if (done.value.kind === "conflict") {
    const { commit, paths, untried } = done.value;
    return refuseConflict(run, paths, [
      `${commit.id.slice(0, 12)} ${commit.subject}`,
      ...shown(paths).map((path) => `  ${path}`),
      ...(untried === 0
        ? []
        : [`${untried} more ${untried === 1 ? "commit" : "commits"} after it, not tried`]),
    ]);
  }
  const dropped = done.value.dropped.map((commit) => commit.subject);
  if (done.value.made === 0) return refuseNothingLeft(run);
  return checked(quarantine, head, { tip: done.value.tip, dropped });
}

/** Everything the run changed as one commit on top of another one, checked like an import. */
export async function squashed(
  services: DecisionServices,
  quarantine: Quarantine,
  { run, head }: At,
): Promise<Result<Rewritten, Failure>> {
  const trees = { base: run.base, ours: head, theirs: run.head };
  const merged = await mergeTrees(quarantine.git, trees);
  if (!merged.ok) return merged;
  if (merged.value.kind === "conflict")
    return refuseConflict(run, merged.value.paths, shown(merged.value.paths));
  const { tree } = merged.value;
  const before = await gitText(quarantine.git, ["rev-parse", `${head}^{tree}`]);
  if (!before.ok) return before;
  if (tree === before.value) return refuseNothingLeft(run);
  const tip = await oneCommit(services, quarantine, { run, head, tree });
  return tip.ok ? checked(quarantine, head, { tip: tip.value, dropped: [] }) : tip;
}

async function oneCommit(
  services: DecisionServices,
  quarantine: Quarantine,
  { run, head, tree }: At & { readonly tree: string },
): Promise<Result<string, Failure>> {
  const paths = runPaths(services.env.stateDir, run.id);
  const spec = await readSpec(paths);
  if (!spec.ok) return spec;
  const series = await readSeries(services.principal.git, run);
  if (!series.ok) return series;
  const parent = await readCommit(quarantine.git, head);
  if (!parent.ok) return parent;
  const agents = await readFile(join(paths.artifacts, ARTIFACT.commitMessage), "utf8").catch(
    () => "",
  );
  const date = `${Math.max(secondsOf(run.startedAt), parent.value.committedAt)} +0000`;
  return commitTree(quarantine, {
    tree,
    parent: head,
    message: squashMessage(agents, series.value),
    author: { ...spec.value.agent.author, date },
    committer: { ...GUARDLOOP, date },
    trailers: ownTrailers(run.id, run.task),
  });
}

/** The agent's last message, else that of its last commit, and what was squashed where that was more than one. */
function squashMessage(agents: string, series: readonly SeriesCommit[]): string {
  const last = withoutOwnTrailers(series.at(-1)?.message.toString("utf8") ?? "");
  const message = importedMessage(agents, last).text;
  if (series.length < 2) return message;
  const subjects = series.map((commit) => `- ${visible(commit.subject, "one-line")}`);
  return `${message}\n\nSquashed from ${series.length} commits:\n\n${subjects.join("\n")}`;
}

/** The same checks of every new commit as at the import: a merge may complete what neither side had alone. */
async function checked(
  { git }: Quarantine,
  head: string,
  made: Rewritten,
): Promise<Result<Rewritten, Failure>> {
  const listed = await gitText(git, ["rev-list", "--reverse", `${head}..${made.tip}`]);
  if (!listed.ok) return listed;
  let from = head;
  for (const to of listed.value.split("\n")) {
    const fine = await refuseStep(git, { from, to });
    if (!fine.ok) return fine;
    from = to;
  }
  const size = await refuseTreeSize(git, made.tip);
  return size.ok ? ok(made) : size;
}

/** At most so many paths with conflicts are shown. */
const SHOWN_PATHS = 50;

function shown(paths: readonly string[]): readonly string[] {
  const more = paths.length - SHOWN_PATHS;
  return more > 0 ? [...paths.slice(0, SHOWN_PATHS), `… and ${more} more`] : paths;
}

function refuseConflict(
  run: PublishedRun,
  paths: readonly string[],
  details: readonly string[],
): Result<never, Failure> {
  const files = paths.length === 1 ? "1 file" : `${paths.length} files`;
  return fail(
    "promote-refused",
    `The run's work and what came to ${run.onto} since contradict each other in ${files}. Nothing was changed.`,
    {
      details,
      cure: `Merge it by hand (git merge ${run.branch}), or discard the run and take the task again.`,
    },
  );
}

function refuseNothingLeft(run: PublishedRun): Result<never, Failure> {
  return fail(
    "promote-refused",
    `There is nothing left to land: everything run ${run.id} changed is already in ${run.onto}.`,
    { cure: `Discard it: guardloop discard ${run.id}` },
  );
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}
