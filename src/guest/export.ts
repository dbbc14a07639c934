import { rmSync } from "node:fs";
import { join } from "node:path";
import { ARTIFACT, type Manifest } from "../core/artifacts.ts";
import type { AgentReport } from "./agent.ts";
import { allOf } from "./all-of.ts";
import { type Draft, type DraftContext, type Gathered, bestDraft } from "./drafts.ts";
import { type Git, mustText } from "./git.ts";
import { readHead } from "./head.ts";
import { type ExportedCommit, type History, flattened, readHistory, treeOf } from "./history.ts";
import { writeManifest } from "./manifest.ts";
import { ownCommit } from "./own-commit.ts";
import { makeRepository, makeScratch } from "./own-repository.ts";
import { kindOf } from "./read-file.ts";
import { makeReadable } from "./readable.ts";
import { sweep } from "./sweep.ts";
import { GUEST_VERSION } from "./version.ts";

export interface ExportContext extends DraftContext {
  readonly agent: AgentReport;
  /** How often the agent's session was woken again. */
  readonly resumed: Manifest["resumed"];
  readonly limitsHit: Manifest["limitsHit"];
  /** What the agent's program says of itself. */
  readonly agentVersion: string | undefined;
}

/** What one attempt starts from: the agent's HEAD, or the base and the files alone. */
type Source =
  | { readonly kind: "head"; readonly commit: string }
  | { readonly kind: "files"; readonly reason: string };

/**
 * Exports the work as patches and writes the manifest, last. Tries the agent's history first; when that cannot be
 * read, or does not survive the way through patches, exports the files alone.
 *
 * @throws when neither can be exported.
 */
export async function exportWork(context: ExportContext): Promise<Manifest> {
  const { job, say } = context;
  makeReadable(job.paths.artifacts);
  rmSync(join(job.paths.artifacts, ARTIFACT.manifest), { recursive: true, force: true });
  const head = readHead(job.paths.workspace);
  if (!head.ok) return exportFrom(context, { kind: "files", reason: head.error });
  try {
    return await exportFrom(context, { kind: "head", commit: head.value });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`the agent's history could not be exported (${reason}); exporting the files alone.`);
    const clause = "the agent's commits could not be read or exported";
    return exportFrom(context, { kind: "files", reason: clause });
  }
}

async function exportFrom(context: ExportContext, source: Source): Promise<Manifest> {
  const scratch = makeScratch();
  try {
    const gathered = await gather(context, source, scratch.directory);
    const [draft, gitVersion] = await allOf([
      bestDraft(context, gathered),
      mustText(gathered.own.git, ["--version"]),
    ]);
    if (draft.problem !== undefined) {
      if (source.kind === "head") throw new Error(draft.problem);
      context.say(
        `the patches do not give back the work, the host will refuse them: ${draft.problem}.`,
      );
    }
    const manifest = describe(context, gathered, { draft, gitVersion });
    writeManifest(context.job.paths.artifacts, manifest);
    return manifest;
  } finally {
    scratch.remove();
  }
}

async function gather(context: ExportContext, source: Source, scratch: string): Promise<Gathered> {
  const { job, say, surroundings } = context;
  const { workspace, baseStore, baseIndex } = job.paths;
  const stores = [join(baseStore, "objects")];
  const agentsObjects = join(workspace, ".git", "objects");
  if (source.kind === "head" && kindOf(agentsObjects) === "directory") stores.push(agentsObjects);
  const own = makeRepository(join(scratch, "own.git"), surroundings, {
    base: job.base,
    objectStores: stores,
  });
  const start = source.kind === "head" ? source.commit : job.base;
  const input = { indexFile: join(scratch, "work.index"), workspace, baseIndex, commit: start };
  const { base, overlayPaths } = job;
  const sweeping = sweep(own, { ...input, base, overlayPaths }, say);
  const treeWithoutLinks = sweeping.then(
    ({ tree }) => tree,
    () => undefined,
  );
  const [swept, [found, startTree]] = await allOf([
    sweeping,
    withTree(
      own.git,
      start,
      source.kind === "files"
        ? Promise.resolve(flattened(source.reason, 0))
        : readHistory(own.git, { base, tip: start, treeWithoutLinks }),
    ),
  ]);
  const leftovers =
    swept.tree === startTree
      ? undefined
      : await ownCommit(own.git, job, { tree: swept.tree, parent: start });
  const history = withLeftovers(found, leftovers);
  return { own, scratch, swept, history, committedLeftovers: leftovers !== undefined };
}

/** The commit that ends a linear history says its own tree; of any other tip Git is asked. */
async function withTree(
  git: Git,
  tip: string,
  reading: Promise<History>,
): Promise<readonly [History, string]> {
  const history = await reading;
  const last = history.kind === "linear" ? history.commits.at(-1) : undefined;
  return [history, last === undefined ? await treeOf(git, tip) : last.tree];
}

function withLeftovers(history: History, leftovers: ExportedCommit | undefined): History {
  if (history.kind !== "linear" || leftovers === undefined) return history;
  return { kind: "linear", commits: [...history.commits, leftovers] };
}

function describe(
  { job, agent, agentVersion, resumed, limitsHit }: ExportContext,
  { swept, committedLeftovers }: Gathered,
  { draft, gitVersion }: { readonly draft: Draft; readonly gitVersion: string },
): Manifest {
  return {
    version: 1,
    base: job.base,
    patches: draft.patches.map(({ file, commit }) => ({
      file,
      commit: commit.id,
      tree: commit.tree,
      author: commit.author,
      message: commit.message,
    })),
    finalTree: swept.tree,
    history: draft.history,
    committedLeftovers,
    ignoredLeftBehind: swept.leftBehind,
    agent,
    resumed,
    limitsHit,
    versions: {
      guest: GUEST_VERSION,
      node: process.versions.node,
      git: gitVersion.replace(/^git version /, ""),
      agent: agentVersion,
    },
  };
}
