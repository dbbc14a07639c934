import type { AgentEnding, RunSpec } from "../../core/run-spec.ts";
import { type Failure } from "../../core/failures.ts";
import { GIT_BOUNDS } from "../../core/limits.ts";
import { type Result, ok } from "../../core/result.ts";
import { withBounds } from "../../git/bounds.ts";
import { type CommitMessage, commitMessages } from "../../git/commit-messages.ts";
import { newLfsPointers } from "../../git/lfs-pointers.ts";
import { NO_POLICY } from "../../core/findings.ts";
import { type AddedLines, addedLines } from "../../git/added-lines.ts";
import { measureChanges } from "../../git/change-facts.ts";
import type { MeasuredEntry } from "../../git/change-facts.ts";
import type { Git } from "../../git/git.ts";
import { hookPathsInTree } from "../../git/hook-paths.ts";
import { LINK_MODE, linksOf } from "../../git/links.ts";
import { listPaths, readFileAt } from "../../git/read-files.ts";
import type { Change, ReviewFacts } from "../../policy/facts.ts";
import { importedMessage } from "../artifacts/imported-metadata.ts";
import { withoutOwnTrailers } from "../artifacts/own-trailers.ts";
import { readPlan } from "../choice/plan.ts";
import { readEgress } from "../egress/read-egress.ts";
import { runPaths } from "../paths.ts";
import { type Collected, doneButNotEnded } from "../stages/collect.ts";
import type { Imported } from "../stages/import.ts";
import { passingSecrets } from "./passing-secrets.ts";
import { type SecretFacts, gatherSecrets } from "./secret-facts.ts";
import { type ReviewServices, type SecretsInUse, secretsInUse } from "./secrets-in-use.ts";

export interface ReviewInput extends Collected, Imported {
  readonly runId: string;
  readonly spec: RunSpec;
  readonly ending: AgentEnding;
}

/** Computes from the imported commits what findings are made of. Nothing the container said about itself decides. */
export async function gatherFacts(
  services: ReviewServices,
  input: ReviewInput,
): Promise<Result<ReviewFacts, Failure>> {
  // What is read came out of a container, so Git works on it within bounds.
  const git = withBounds(services.objects ?? services.principal.git, GIT_BOUNDS);
  const { spec, collected, imported } = input;
  const [content, commits, inUse, hookPaths, plan] = await Promise.all([
    contentFacts(git, { base: spec.base, head: imported.head }),
    commitMessages(git, spec.base, imported.head),
    secretsInUse(services, spec),
    hookPathsInTree(services.principal),
    planFacts(git, input),
  ]);
  if (!content.ok) return content;
  if (!commits.ok) return commits;
  if (!inUse.ok) return inUse;
  const { lines, ...files } = content.value;
  const messages = messageFacts(commits.value, input);
  const secrets = await allSecrets(git, lines, {
    messages: messages.messages,
    inUse: inUse.value,
  });
  if (!secrets.ok) return secrets;
  const { manifest } = collected;
  return ok({
    ...files,
    addedLines: lines.lines,
    ...secrets.value,
    controlPaths: spec.controlPaths,
    setupGlobs: spec.setup?.lockfiles ?? [],
    protectedGlobs: (spec.policy ?? NO_POLICY).protected,
    hookPaths,
    ...plan,
    ...endingFacts(input),
    egressRefused: await egressRefused(services, spec),
    flattened: manifest.history.kind === "flattened" ? manifest.history.reason : null,
    leftBehind: manifest.ignoredLeftBehind,
    otherAuthors: otherAuthors(commits.value, input),
    ...messages,
    metadataChanges: imported.changes ?? [],
  });
}

type EndingFacts = Pick<
  ReviewFacts,
  "agentExit" | "endedWhenDone" | "hitMemoryLimit" | "processesRefused"
>;

/** How the agent ended. Of the limits the guest sees what not every engine tells; it only adds a line to the review. */
function endingFacts({ spec, collected, ending }: ReviewInput): EndingFacts {
  const { agent, limitsHit } = collected.manifest;
  const clock = ending.kind === "completion-limit";
  return {
    // Where the completion clock ended it, the status is of our doing.
    agentExit: clock ? null : agent.exitCode,
    endedWhenDone: clock ? `${doneButNotEnded(ending, spec)}.` : null,
    hitMemoryLimit: ending.hitMemoryLimit || (limitsHit?.memory ?? 0) > 0,
    processesRefused: limitsHit?.processes ?? 0,
  };
}

/** Of the agent; what setup was refused has ended the run, or did not matter. */
async function egressRefused(
  { env }: ReviewServices,
  { runId }: RunSpec,
): Promise<ReviewFacts["egressRefused"]> {
  const counts = new Map<string, number>();
  for (const entry of await readEgress(runPaths(env.stateDir, runId).egress)) {
    if (entry.outcome !== "refused" || entry.phase !== "agent") continue;
    const reason = entry.reason ?? `${entry.method} ${entry.host}${entry.path}`;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => ({ reason, count }));
}

interface Range {
  readonly base: string;
  readonly head: string;
}

type ContentFacts = Pick<
  ReviewFacts,
  "changes" | "links" | "packageFiles" | "collisions" | "lfsPointers"
> & {
  readonly lines: AddedLines;
};

/** In the files as they are at the end, in the messages, and in what one commit adds and another takes out again. */
async function allSecrets(
  git: Git,
  lines: AddedLines,
  at: { readonly messages: ReviewFacts["messages"]; readonly inUse: SecretsInUse },
): Promise<Result<SecretFacts, Failure>> {
  const standing = await gatherSecrets(lines.lines, at.messages, at.inUse);
  const passing = await passingSecrets(git, at.messages, { inUse: at.inUse, standing });
  if (!passing.ok) return passing;
  return ok({
    secrets: [...standing.secrets, ...passing.value.secrets],
    secretsInUse: [...standing.secretsInUse, ...passing.value.secretsInUse],
    notScanned: [...standing.notScanned, ...passing.value.notScanned, ...notLookedAt(lines)],
  });
}

function notLookedAt({ lines, extent }: AddedLines): readonly string[] {
  return extent === "whole"
    ? []
    : [`the branch: it adds more than the ${lines.length} lines that were looked at`];
}

/** What the files of a range say. */
async function contentFacts(git: Git, range: Range): Promise<Result<ContentFacts, Failure>> {
  const [measured, lines] = await Promise.all([
    measureChanges(git, range.base, range.head),
    addedLines(git, range.base, range.head),
  ]);
  if (!measured.ok) return measured;
  if (!lines.ok) return lines;
  const [links, packages, collisions, pointers] = await Promise.all([
    linksWhere(git, range.head, measured.value),
    packageFiles(git, range, measured.value),
    findCollisions(git, range.head, measured.value),
    newLfsPointers(git, measured.value),
  ]);
  if (!links.ok) return links;
  if (!packages.ok) return packages;
  if (!collisions.ok) return collisions;
  if (!pointers.ok) return pointers;
  return ok({
    changes: measured.value.map(toChange),
    links: links.value,
    lines: lines.value,
    packageFiles: packages.value,
    collisions: collisions.value,
    lfsPointers: pointers.value,
  });
}

/** Every link of the tree, where one of them changed. */
async function linksWhere(
  git: Git,
  head: string,
  changes: readonly MeasuredEntry[],
): Promise<Result<ReviewFacts["links"], Failure>> {
  return changes.some((entry) => entry.newMode === LINK_MODE) ? linksOf(git, head) : ok(new Map());
}

function toChange(entry: MeasuredEntry): Change {
  const kinds = { A: "added", D: "deleted", M: "modified", T: "type-changed" } as const;
  const { path, utf8, oldMode, newMode, addedLines: added, deletedLines } = entry;
  const { content, sizeBytes, linkTarget } = entry;
  return {
    path,
    utf8,
    oldMode,
    newMode,
    addedLines: added,
    deletedLines,
    content,
    sizeBytes,
    linkTarget,
    kind: kinds[entry.status],
  };
}

/** Both versions of every package.json that changed. */
async function packageFiles(
  git: Git,
  range: Range,
  changes: readonly MeasuredEntry[],
): Promise<Result<ReviewFacts["packageFiles"], Failure>> {
  const found: ReviewFacts["packageFiles"][number][] = [];
  for (const { path } of changes) {
    if (path !== "package.json" && !path.endsWith("/package.json")) continue;
    const before = await readFileAt(git, range.base, path);
    if (!before.ok) return before;
    const after = await readFileAt(git, range.head, path);
    if (!after.ok) return after;
    found.push({ path, before: before.value, after: after.value });
  }
  return ok(found);
}

function otherAuthors(commits: readonly CommitMessage[], { spec }: ReviewInput): readonly string[] {
  const { name, email } = spec.agent.author;
  return commits
    .filter((commit) => commit.authorName !== name || commit.authorEmail !== email)
    .map((commit) => `${commit.commit.slice(0, 12)} ${commit.authorName} <${commit.authorEmail}>`);
}

function messageFacts(
  commits: readonly CommitMessage[],
  { collected }: ReviewInput,
): Pick<ReviewFacts, "messages" | "lastMessage"> {
  const messages = commits.map(({ commit, message }) => ({
    commit,
    message: withoutOwnTrailers(message),
  }));
  const { message: asked } = collected;
  const same = messages.at(-1)?.message === importedMessage(asked, asked).text.trimEnd();
  return { messages, lastMessage: same ? "as-given" : "differs" };
}

async function findCollisions(
  git: Git,
  head: string,
  changes: readonly MeasuredEntry[],
): Promise<Result<readonly string[], Failure>> {
  const added = changes.filter((change) => change.status === "A").map((change) => change.path);
  if (added.length === 0) return ok([]);
  const paths = await listPaths(git, head);
  if (!paths.ok) return paths;
  const counts = new Map<string, number>();
  for (const path of paths.value) counts.set(fold(path), (counts.get(fold(path)) ?? 0) + 1);
  return ok(added.filter((path) => (counts.get(fold(path)) ?? 0) > 1));
}

/** One name on file systems that ignore case or Unicode form. */
function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

async function planFacts(
  git: Git,
  { spec, collected, imported }: ReviewInput,
): Promise<Pick<ReviewFacts, "task" | "otherTasksChanged">> {
  const id = collected.taskId;
  const file = spec.offered.find((task) => task.id === id)?.file ?? "";
  const before = await readPlan(git, spec.base, spec.plan);
  const after = await readPlan(git, imported.head, spec.plan);
  if (!after.ok) return { task: { id, file, atTip: "missing" }, otherTasksChanged: [] };
  const task = after.value.tasks.find((one) => one.id === id);
  const atTip =
    task === undefined ? "missing" : task.notRunnable === null ? "runnable" : "not-runnable";
  const earlier = new Map(
    before.ok ? before.value.tasks.map((one) => [one.id, one.statusText]) : [],
  );
  const changed = after.value.tasks
    .filter((one) => one.id !== id && earlier.get(one.id) !== one.statusText)
    .map((one) => one.id);
  return { task: { id, file, atTip }, otherTasksChanged: changed };
}
