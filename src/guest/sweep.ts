import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../core/artifacts.ts";
import { allOf } from "./all-of.ts";
import { type Exclude, makeExclude } from "./exclude.ts";
import { gitError, must, mustText } from "./git.ts";
import { gitFileTarget } from "./head.ts";
import { leftBehind } from "./left-behind.ts";
import { listLeft } from "./list-left.ts";
import { revealNested } from "./nested.ts";
import { nulSeparated, pathText } from "./nul-separated.ts";
import {
  GITLINK,
  type IndexSources,
  type OwnIndex,
  eachEntry,
  forget,
  gitlinksOf,
  makeIndex,
} from "./own-index.ts";
import type { OwnRepository } from "./own-repository.ts";
import { plainSweep } from "./plain-sweep.ts";
import { makeReadable } from "./readable.ts";
import type { Say } from "./say.ts";

export interface SweepInput extends IndexSources {
  readonly overlayPaths: readonly string[];
}

export interface Swept {
  /** The tree of the work as it lies in the workspace; no link in it to a repository that the base does not have. */
  readonly tree: string;
  /** Files and, with a slash at the end, whole directories that are in no patch. */
  readonly leftBehind: Manifest["ignoredLeftBehind"];
}

/** Records the workspace's files as `git add -A` would, with the guest's own index and configuration. */
export async function sweep(own: OwnRepository, input: SweepInput, say: Say): Promise<Swept> {
  const exclude = makeExclude(own.gitDir, input.overlayPaths);
  if (gitFileTarget(input.workspace, "") === undefined) {
    const index = await makeIndex(own.git, input);
    const plain = await plainSweep(index, exclude, input);
    if (plain !== undefined) return { tree: plain.tree, leftBehind: plain.left.report() };
  }
  return carefulSweep(own, { ...input, exclude }, say);
}

/** Finds nested repositories before anything is added, and takes out again what must not be in. */
async function carefulSweep(
  own: OwnRepository,
  input: SweepInput & { readonly exclude: Exclude },
  say: Say,
): Promise<Swept> {
  const { exclude } = input;
  const index = await makeIndex(own.git, input);
  const baseLinks = await gitlinksOf(own.git, input.base);
  // A link the agent's own commits made hides the files below it.
  await forget(index, await newLinks(index, baseLinks));
  const nested = await revealNested(index, input.workspace, exclude);
  if (nested.revealed.length > 0)
    say(
      `recorded the files of these nested repositories: ${pathText(nested.revealed.join(", "))}.`,
    );
  await addAll(index, { gitDir: own.gitDir, workspace: input.workspace }, say);
  const links = await newLinks(index, baseLinks);
  await forget(index, links);
  await forgetExcluded(index, exclude, input.commit);
  const left = leftBehind();
  for (const path of new Set([...nested.leftOut, ...links])) left.add(`${path}/`);
  const [tree] = await allOf([
    mustText(own.git, ["write-tree"], index.view),
    listLeft(index, exclude, left),
  ]);
  return { tree, leftBehind: left.report() };
}

async function newLinks(
  index: OwnIndex,
  baseLinks: ReadonlySet<string>,
): Promise<readonly string[]> {
  const links: string[] = [];
  await eachEntry(index, ({ mode, path }) => {
    if (mode === GITLINK && !baseLinks.has(path)) links.push(path);
  });
  return links;
}

/**
 * `git add -A`, and two harder attempts: with every file made readable and what still cannot be recorded skipped,
 * and then without conversions, because a wrong working-tree-encoding attribute ends git.
 */
async function addAll(
  index: OwnIndex,
  where: { readonly gitDir: string; readonly workspace: string },
  say: Say,
): Promise<void> {
  const first = await index.git(["add", "--all"], index.view);
  // A directory that cannot be opened is only a warning to git.
  if (first.code === 0 && first.stderr === "") return;
  makeReadable(where.workspace);
  const skipping = ["add", "--all", "--ignore-errors"];
  const second = await index.git(skipping, index.view);
  if (second.code <= 1) return;
  say(`recording the workspace failed (${second.stderr.trim()}); again without conversions.`);
  const attributes = join(where.gitDir, "info", "attributes");
  writeFileSync(attributes, "* -text !eol !working-tree-encoding -ident -filter\n");
  const third = await index.git(skipping, index.view);
  rmSync(attributes, { force: true });
  if (third.code > 1) throw gitError(skipping, third);
}

/** Takes out what a .gitignore of the agent's let in; what the agent committed itself stays. */
async function forgetExcluded(index: OwnIndex, exclude: Exclude, commit: string): Promise<void> {
  if (exclude.isEmpty()) return;
  const swept = new Set<string>();
  await eachEntry(index, ({ path }) => {
    if (exclude.has(path)) swept.add(path);
  });
  if (swept.size === 0) return;
  const stdout = nulSeparated((path) => swept.delete(path));
  await must(index.git, ["ls-tree", "-r", "-z", "--name-only", commit], { stdout });
  await forget(index, [...swept]);
}
