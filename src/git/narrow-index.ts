import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { Git } from "./git.ts";
import { DIRECTORY_MODE, type Tree, type TreesAt, treesAt } from "./trees-at.ts";

/** A file or link of a commit. */
export interface FileBefore {
  /** `100644` and the like. */
  readonly mode: string;
  readonly content: Buffer;
}

/** What an index has to hold for some patches, and for how many of them it is enough. */
export interface NarrowIndex {
  /** The tree of the whole commit. */
  readonly tree: string;
  /** For `git update-index -z --index-info`. */
  readonly info: Buffer;
  /** What was looked up; of everything else nothing is known. One character a byte. */
  readonly paths: ReadonlySet<string>;
  /** What is at each of the paths; undefined where nothing is. Only where it was asked for. */
  readonly before: ReadonlyMap<string, FileBefore | undefined>;
  /** So many of the patches, from the first on, touch nothing where a directory and a file may be in each other's way. */
  readonly patches: number;
}

/**
 * An index of nothing but the paths that patches touch, as they are in a commit: its size, and so what Git reads and
 * writes for each patch, is that of the patches and not that of the repository.
 *
 * @param touched the paths of each patch, see `touchedPaths`.
 * @param contents whether the files are read, too.
 */
export async function narrowIndex(
  git: Git,
  commit: string,
  { touched, contents }: { readonly touched: Touched; readonly contents: "read" | "leave" },
): Promise<Result<NarrowIndex, Failure>> {
  const directories = new Set([
    "",
    ...touched.flatMap((paths) => [...paths].flatMap(directoriesOf)),
  ]);
  const files = contents === "read" ? new Set(touched.flatMap((some) => [...some])) : [];
  const found = await treesAt(git, commit, { directories: [...directories], files: [...files] });
  if (!found.ok) return found;
  const { trees } = found.value;
  const top = trees.get("");
  if (top === undefined) return fail("git-failed", `${commit} has no tree.`);
  const stop = touched.findIndex((paths) => [...paths].some((path) => isInTheWay(trees, path)));
  const patches = stop === -1 ? touched.length : stop;
  const paths = new Set(touched.slice(0, patches).flatMap((some) => [...some]));
  const rows = [...paths].flatMap((path) => {
    const entry = entryAt(trees, path);
    return entry === undefined ? [] : [`${entry.mode} ${entry.id}\t${path}\0`];
  });
  const before = contents === "read" ? filesOf(paths, found.value) : new Map();
  const info = Buffer.from(rows.join(""), "latin1");
  return ok({ tree: top.id, info, paths, before, patches });
}

/** Without what is something else than a file or a link. */
function filesOf(paths: ReadonlySet<string>, { trees, contents }: TreesAt): NarrowIndex["before"] {
  const before = new Map<string, FileBefore | undefined>();
  for (const path of paths) {
    const entry = entryAt(trees, path);
    const content = contents.get(path);
    if (entry === undefined) before.set(path, undefined);
    else if (content !== undefined) before.set(path, { mode: entry.mode, content });
  }
  return before;
}

/** The paths of each patch. */
type Touched = readonly ReadonlySet<string>[];

/** Every directory above a path, the top as an empty name. */
function directoriesOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index).join("/"));
}

function entryAt(trees: ReadonlyMap<string, Tree>, path: string) {
  const slash = path.lastIndexOf("/");
  return trees.get(slash === -1 ? "" : path.slice(0, slash))?.entries.get(path.slice(slash + 1));
}

/** Whether a directory is at the path, or something else than a directory above it. */
function isInTheWay(trees: ReadonlyMap<string, Tree>, path: string): boolean {
  if (entryAt(trees, path)?.mode === DIRECTORY_MODE) return true;
  return directoriesOf(path)
    .filter((directory) => directory !== "")
    .some((directory) => {
      const entry = entryAt(trees, directory);
      return entry !== undefined && entry.mode !== DIRECTORY_MODE;
    });
}
