import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ARTIFACT, type GuestJob, type HistoryShape } from "../core/artifacts.ts";
import { type ExportedCommit, type History, treeOf } from "./history.ts";
import { ownCommit } from "./own-commit.ts";
import { type OwnRepository, makeRepository } from "./own-repository.ts";
import { type PatchFile, writePatches } from "./patches.ts";
import type { Surroundings } from "./preflight.ts";
import { roundTripProblem } from "./round-trip.ts";
import type { Say } from "./say.ts";
import type { Swept } from "./sweep.ts";

export interface DraftContext {
  readonly job: GuestJob;
  readonly surroundings: Surroundings;
  readonly say: Say;
}

/** The work in the guest's own repository, before it becomes patches. */
export interface Gathered {
  readonly own: OwnRepository;
  readonly scratch: string;
  readonly swept: Swept;
  readonly history: History;
  readonly committedLeftovers: boolean;
}

/** One way to export the same work, and what the round trip said about it. */
export interface Draft {
  readonly history: HistoryShape;
  readonly patches: readonly PatchFile[];
  readonly problem: string | undefined;
}

/** Tries one patch a commit; when the round trip does not give back every tree, one patch for everything. */
export async function bestDraft(context: DraftContext, gathered: Gathered): Promise<Draft> {
  const { history } = gathered;
  if (history.kind === "flattened") return flattenedDraft(context, gathered, history);
  const draft = await makeDraft(context, gathered, {
    history: { kind: "linear" },
    commits: history.commits,
  });
  if (draft.problem === undefined) return draft;
  context.say(`the single commits do not survive the way through patches: ${draft.problem}.`);
  return flattenedDraft(context, gathered, {
    kind: "flattened",
    reason: "the single commits do not survive the way through patches",
    commits: history.commits.length,
  });
}

async function flattenedDraft(
  context: DraftContext,
  gathered: Gathered,
  history: HistoryShape,
): Promise<Draft> {
  const commits = await flattenedCommits(context.job, gathered);
  return makeDraft(context, gathered, { history, commits });
}

async function flattenedCommits(
  job: GuestJob,
  { own, swept }: Gathered,
): Promise<readonly ExportedCommit[]> {
  if (swept.tree === (await treeOf(own.git, job.base))) return [];
  return [await ownCommit(own.git, job, { tree: swept.tree, parent: job.base })];
}

async function makeDraft(
  { job, surroundings }: DraftContext,
  { own, scratch }: Gathered,
  form: Pick<Draft, "history"> & { readonly commits: readonly ExportedCommit[] },
): Promise<Draft> {
  const directory = join(job.paths.artifacts, ARTIFACT.patches);
  // Whatever the agent put there is not ours.
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o755 });
  const patches = await writePatches(own, form.commits, { directory, job });
  const checkDir = join(scratch, "check.git");
  rmSync(checkDir, { recursive: true, force: true });
  const check = makeRepository(checkDir, surroundings, {
    base: job.base,
    objectStores: [join(job.paths.baseStore, "objects")],
  });
  const trip = { own, check, directory: scratch, base: job.base, baseIndex: job.paths.baseIndex };
  const problem = await roundTripProblem(trip, patches, directory);
  return { history: form.history, patches, problem };
}
