import { readFile } from "node:fs/promises";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { type Quarantine, applyMail, commitTree, startAt } from "../../git/quarantine.ts";
import { refuseBlobBytes, refuseStep } from "../../git/refuse-tree.ts";
import type { RunPaths } from "../paths.ts";
import { type ImportFacts, type PatchCommit, commitOf } from "./patch-commit.ts";
import { type Patch, checkedPatches } from "./patches.ts";
import { quickly } from "./quickly.ts";

/** How far the series has become commits. */
export interface Progress {
  /** The commit on which the next one is put. */
  readonly tip: string;
  readonly taken: number;
  /** Of the tip; undefined before the first. */
  readonly tree: string | undefined;
  /** A commit whose tree has no more paths than the limit. */
  readonly walked: string | undefined;
  /** Of all new and changed files. */
  readonly blobBytes: number;
  /** What of authors, dates and messages could not be published as it was. */
  readonly changes: readonly string[];
}

/**
 * Applies every patch and makes its commit; the first tree that differs from the manifest ends it. As many as go well are
 * taken together. What stops them is looked at patch by patch, with an index of the whole tree, which is slow in a large
 * repository and knows the reason.
 */
export async function rebuild(
  paths: RunPaths,
  quarantine: Quarantine,
  facts: ImportFacts,
): Promise<Result<Progress, Failure>> {
  const patches = await checkedPatches(paths, facts.manifest.patches);
  if (!patches.ok) return patches;
  let progress: Progress = { ...NOTHING_YET, tip: facts.base };
  // More at each stop, so that a series of nothing but stops is no slower than patch by patch.
  for (let atOnce = 1; progress.taken < patches.value.length; atOnce *= 2) {
    for (const how of WAYS) {
      const { taken } = progress;
      const most = how === "in memory" ? patches.value.length : atOnce;
      const rest = patches.value.slice(taken, taken + most);
      const took = await take(how, quarantine, { facts, patches: rest, progress });
      if (!took.ok) return took;
      progress = took.value;
      if (how === "by Git" && progress.taken - taken === rest.length) break;
    }
  }
  return ok(progress);
}

const NOTHING_YET = { taken: 0, tree: undefined, walked: undefined, blobBytes: 0, changes: [] };
/** The quickest first; the last one knows why something cannot be taken. */
const WAYS = ["in memory", "by Git", "one by one"] as const;

function take(
  how: (typeof WAYS)[number],
  quarantine: Quarantine,
  rest: RestOfSeries,
): Promise<Result<Progress, Failure>> {
  return how === "one by one" ? carefully(quarantine, rest) : quickly(quarantine, rest, how);
}

export interface RestOfSeries {
  readonly facts: ImportFacts;
  readonly patches: readonly Patch[];
  readonly progress: Progress;
}

async function carefully(
  quarantine: Quarantine,
  { facts, patches, progress }: RestOfSeries,
): Promise<Result<Progress, Failure>> {
  if (patches.length === 0) return ok(progress);
  const started = await startAt(quarantine, progress.tip);
  if (!started.ok) return started;
  let { tip, tree, blobBytes } = progress;
  const changes = [...progress.changes];
  for (const patch of patches) {
    const made = await importPatch(quarantine, {
      patch,
      parent: tip,
      commit: commitOf(patch.entry, facts),
    });
    if (!made.ok) return made;
    changes.push(...made.value.changes);
    const step = await refuseStep(quarantine.git, { from: tip, to: made.value.id });
    if (!step.ok) return step;
    blobBytes += step.value;
    const fits = refuseBlobBytes(blobBytes);
    if (!fits.ok) return fits;
    tip = made.value.id;
    tree = patch.entry.tree;
  }
  const taken = progress.taken + patches.length;
  return ok({ tip, taken, tree, walked: undefined, blobBytes, changes });
}

async function importPatch(
  quarantine: Quarantine,
  at: { readonly patch: Patch; readonly parent: string; readonly commit: PatchCommit },
): Promise<Result<{ readonly id: string; readonly changes: readonly string[] }, Failure>> {
  const { entry, path } = at.patch;
  const tree = await applyMail(quarantine, await readFile(path), entry.file);
  if (!tree.ok) return tree;
  if (tree.value !== entry.tree)
    return fail(
      "import-mismatch",
      `patches/${entry.file} gives the tree ${tree.value}, but the agent had ${entry.tree}.`,
    );
  const { request, changed } = at.commit;
  const commit = await commitTree(quarantine, { ...request, tree: tree.value, parent: at.parent });
  return commit.ok ? ok({ id: commit.value, changes: changed(commit.value) }) : commit;
}
