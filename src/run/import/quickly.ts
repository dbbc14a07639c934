import { readFile } from "node:fs/promises";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import {
  type CommitOfSeries,
  type MadeCommit,
  type SeriesChange,
  commitSeries,
  isPlainCommit,
  seriesChange,
} from "../../git/commit-series.ts";
import { applyMails } from "../../git/mail-series.ts";
import { type NarrowIndex, narrowIndex } from "../../git/narrow-index.ts";
import { plainFiles } from "../../git/plain-files.ts";
import { plainDiffs } from "../../git/plain-mail.ts";
import type { Quarantine } from "../../git/quarantine.ts";
import { knownSteps, refuseBlobBytes, refuseTreeSize } from "../../git/refuse-tree.ts";
import { type PatchCommit, commitOf } from "./patch-commit.ts";
import type { Patch } from "./patches.ts";
import type { Progress, RestOfSeries } from "./rebuild.ts";

/**
 * Who applies the patches: this process, where they are plain changes of text that fit exactly, or git-apply(1). Either
 * way the trees are Git's, and each is compared with the one that the manifest has.
 */
export type QuickWay = "in memory" | "by Git";

/**
 * Takes as many of the patches as it can without an index of the whole tree. Of a patch that it cannot take nothing is
 * said, and nothing is done for those behind it. A commit that must not be published is refused, in the order of the
 * series.
 */
export async function quickly(
  quarantine: Quarantine,
  rest: RestOfSeries,
  way: QuickWay,
): Promise<Result<Progress, Failure>> {
  if (rest.patches.length === 0) return ok(rest.progress);
  const planned = await plan(quarantine, rest, way);
  if (planned === undefined || planned.commits.length === 0) return ok(rest.progress);
  const series = planned.commits.map(({ commit }) => commit);
  const made = await commitSeries(quarantine, rest.progress.tip, series);
  // The index of the whole tree finds the same, and knows why.
  if (!made.ok) return ok(rest.progress);
  return checked(quarantine, rest, { ...planned, made: made.value });
}

interface Plan {
  /** The tree before the first commit. */
  readonly tree: string;
  readonly commits: readonly Planned[];
}

interface Planned {
  readonly patch: Patch;
  readonly own: PatchCommit;
  readonly commit: CommitOfSeries;
}

async function plan(
  quarantine: Quarantine,
  { facts, patches, progress }: RestOfSeries,
  way: QuickWay,
): Promise<Plan | undefined> {
  const touched = patches.map((patch) => patch.touched);
  const contents = way === "in memory" ? "read" : "leave";
  const narrow = await narrowIndex(quarantine.git, progress.tip, { touched, contents });
  if (!narrow.ok || narrow.value.patches === 0) return undefined;
  const mails = patches.slice(0, narrow.value.patches).map(({ path }) => path);
  const changes = await (way === "in memory"
    ? changesInMemory(mails, narrow.value)
    : changesByGit(quarantine, mails, narrow.value));
  const planned = patches.slice(0, changes.length).map((patch, index) => {
    const own = commitOf(patch.entry, facts);
    return { patch, own, commit: { ...own.request, changes: changes[index] ?? [] } };
  });
  const stop = planned.findIndex(({ commit }) => !isPlainCommit(commit));
  return { tree: narrow.value.tree, commits: stop === -1 ? planned : planned.slice(0, stop) };
}

type Changes = readonly (readonly SeriesChange[])[];

async function changesInMemory(
  mails: readonly string[],
  { before }: NarrowIndex,
): Promise<Changes> {
  const files = plainFiles(before);
  const all: (readonly SeriesChange[])[] = [];
  for (const mail of mails) {
    const diffs = plainDiffs(await readFile(mail));
    const changes = diffs && files.apply(diffs);
    if (changes === undefined) break;
    all.push(changes);
  }
  return all;
}

async function changesByGit(
  quarantine: Quarantine,
  mails: readonly string[],
  narrow: NarrowIndex,
): Promise<Changes> {
  const applied = await applyMails(quarantine, mails, narrow);
  return applied.ok ? applied.value.map((entries) => entries.map(seriesChange)) : [];
}

/** The checks of each commit; up to the first whose tree is not the one that the manifest has. */
async function checked(
  { git }: Quarantine,
  { facts, progress }: RestOfSeries,
  { tree, commits, made }: Plan & { readonly made: readonly MadeCommit[] },
): Promise<Result<Progress, Failure>> {
  const wrong = made.findIndex((one, index) => one.tree !== commits[index]?.patch.entry.tree);
  const good = wrong === -1 ? made : made.slice(0, wrong);
  const last = good.at(-1);
  if (last === undefined) return ok(progress);
  const trees = [tree, ...good.map((one) => one.tree)];
  const pairs = good.map((one, index) => ({ from: trees[index] ?? "", to: one.tree }));
  const taken = progress.taken + good.length;
  const isWhole = taken === facts.manifest.patches.length;
  const [steps, walked] = await Promise.all([
    knownSteps(git, pairs, sizesOf(commits)),
    isWhole ? refuseTreeSize(git, last.id) : undefined,
  ]);
  if (!steps.ok) return ok(progress);
  let { blobBytes } = progress;
  for (const step of steps.value) {
    const fine = await step.check();
    if (!fine.ok) return fine;
    blobBytes += fine.value;
    const fits = refuseBlobBytes(blobBytes);
    if (!fits.ok) return fits;
  }
  if (walked?.ok === false) return walked;
  const changes = good.flatMap(({ id }, index) => commits[index]?.own.changed(id) ?? []);
  return ok({
    tip: last.id,
    taken,
    tree: last.tree,
    walked: walked === undefined ? undefined : last.id,
    blobBytes,
    changes: [...progress.changes, ...changes],
  });
}

/** Of the blobs whose content was hashed here. */
function sizesOf(commits: readonly Planned[]): ReadonlyMap<string, number> {
  const blobs = commits.flatMap(({ commit }) => commit.changes.map(({ blob }) => blob));
  return new Map(
    blobs.flatMap((blob) => (blob?.content === undefined ? [] : [[blob.id, blob.content.length]])),
  );
}
