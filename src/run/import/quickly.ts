import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import {
  type CommitOfSeries,
  type MadeCommit,
  commitSeries,
  isPlainCommit,
} from "../../git/commit-series.ts";
import { applyMails } from "../../git/mail-series.ts";
import { narrowIndex } from "../../git/narrow-index.ts";
import type { Quarantine } from "../../git/quarantine.ts";
import { knownSteps, refuseBlobBytes } from "../../git/refuse-tree.ts";
import { type PatchCommit, commitOf } from "./patch-commit.ts";
import type { Patch } from "./patches.ts";
import type { Progress, RestOfSeries } from "./rebuild.ts";

/**
 * Takes as many of the patches as it can without an index of the whole tree. Of a patch that it cannot take nothing is
 * said, and nothing is done for those behind it. A commit that must not be published is refused, in the order of the
 * series.
 */
export async function quickly(
  quarantine: Quarantine,
  rest: RestOfSeries,
): Promise<Result<Progress, Failure>> {
  const { tip } = rest.progress;
  const planned = await plan(quarantine, rest);
  if (planned === undefined || planned.commits.length === 0) return ok(rest.progress);
  const series = planned.commits.map(({ commit }) => commit);
  const made = await commitSeries(quarantine, tip, series);
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
): Promise<Plan | undefined> {
  const touched = patches.map((patch) => patch.touched);
  const narrow = await narrowIndex(quarantine.git, progress.tip, touched);
  if (!narrow.ok || narrow.value.patches === 0) return undefined;
  const mails = patches.slice(0, narrow.value.patches).map(({ path }) => path);
  const applied = await applyMails(quarantine, mails, narrow.value);
  if (!applied.ok) return undefined;
  const planned = patches.slice(0, applied.value.length).map((patch, index) => {
    const own = commitOf(patch.entry, facts);
    return { patch, own, commit: { ...own.request, changes: applied.value[index] ?? [] } };
  });
  const stop = planned.findIndex(({ commit }) => !isPlainCommit(commit));
  return { tree: narrow.value.tree, commits: stop === -1 ? planned : planned.slice(0, stop) };
}

/** The checks of each commit; up to the first whose tree is not the one that the manifest has. */
async function checked(
  { git }: Quarantine,
  { progress }: RestOfSeries,
  { tree, commits, made }: Plan & { readonly made: readonly MadeCommit[] },
): Promise<Result<Progress, Failure>> {
  const wrong = made.findIndex((one, index) => one.tree !== commits[index]?.patch.entry.tree);
  const good = wrong === -1 ? made : made.slice(0, wrong);
  const trees = [tree, ...good.map((one) => one.tree)];
  const steps = await knownSteps(
    git,
    good.map((one, index) => ({ from: trees[index] ?? "", to: one.tree })),
  );
  if (!steps.ok) return ok(progress);
  let { blobBytes } = progress;
  for (const step of steps.value) {
    const fine = await step.check();
    if (!fine.ok) return fine;
    blobBytes += fine.value;
    const fits = refuseBlobBytes(blobBytes);
    if (!fits.ok) return fits;
  }
  const changes = good.flatMap(({ id }, index) => commits[index]?.own.changed(id) ?? []);
  return ok({
    tip: good.at(-1)?.id ?? progress.tip,
    taken: progress.taken + good.length,
    blobBytes,
    changes: [...progress.changes, ...changes],
  });
}
