import { allOf } from "./all-of.ts";
import type { Exclude } from "./exclude.ts";
import { gitError, must, mustText, words } from "./git.ts";
import { type LeftBehind, leftBehind } from "./left-behind.ts";
import { listLeft } from "./list-left.ts";
import { GITLINK, type OwnIndex } from "./own-index.ts";
import { NO_MODE, type RawChange, rawChanges } from "./raw-diff.ts";

export interface PlainSweep {
  readonly tree: string;
  readonly left: LeftBehind;
}

/**
 * `git add -A` and nothing else, for a workspace where that is enough, as it hardly ever is not. Costs what was changed,
 * not what the repository has, and asks side by side what only reads the index.
 *
 * @param options.commit the index's.
 * @returns undefined where it is not enough, and the index is spoilt: Git had something to say, as it has about every
 *   nested repository, there is a link that the base does not have, or something excluded came in.
 */
export async function plainSweep(
  index: OwnIndex,
  exclude: Exclude,
  { base, commit }: { readonly base: string; readonly commit: string },
): Promise<PlainSweep | undefined> {
  const { git, view } = index;
  const added = await git(["add", "--all"], view);
  // What keeps Git waiting for ever keeps the careful way waiting as well.
  if (added.stderr.endsWith("ended by SIGKILL")) throw gitError(["add"], added);
  if (added.code !== 0 || added.stderr !== "") return undefined;
  const isLetIn = ({ from, path }: RawChange): boolean => from === NO_MODE && exclude.has(path);
  const left = leftBehind();
  const [tree, links, letIn] = await allOf([
    mustText(git, ["write-tree"], view),
    anyChange(index, base, isNewLink),
    exclude.isEmpty() ? Promise.resolve(false) : anyChange(index, commit, isLetIn),
    listLeft(index, exclude, left),
  ]);
  return links || letIn ? undefined : { tree, left };
}

function isNewLink({ from, to }: RawChange): boolean {
  return to === GITLINK && from !== GITLINK;
}

/** Whether the index differs from a commit in such a way. */
async function anyChange(
  index: OwnIndex,
  commit: string,
  isMeant: (change: RawChange) => boolean,
): Promise<boolean> {
  let isThere = false;
  const stdout = rawChanges((change) => {
    if (isMeant(change)) isThere = true;
  });
  const diff = words("diff-index --cached -z --raw --no-renames --no-abbrev --no-ext-diff");
  await must(index.git, [...diff, "--ignore-submodules=none", commit], { ...index.view, stdout });
  return isThere;
}
