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
  asked: { readonly touched: Touched; readonly contents: "read" | "leave" },
): Promise<Result<NarrowIndex, Failure>> {
  const { contents } = asked;
  const { touched, directories } = withinBudget(asked.touched);
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

/**
 * Of paths and of the directories above them, of which deep paths name many times as many characters as they have. Git
 * repeats those that are not there, so it is less than what `treesAt` takes.
 */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** What goes with each name in a question and its answer. */
const MORE_CHARACTERS = 64;

/** As many of the patches, from the first on, as name no more than can be kept, with all directories that they name. */
function withinBudget(touched: Touched): {
  readonly touched: Touched;
  readonly directories: ReadonlySet<string>;
} {
  const directories = new Set([""]);
  let characters = 0;
  for (const [index, paths] of touched.entries())
    for (const path of paths) {
      characters += path.length + MORE_CHARACTERS;
      let directory = parentOf(path);
      // Where one is known, those above it are.
      for (; !directories.has(directory); directory = parentOf(directory)) {
        directories.add(directory);
        characters += directory.length + MORE_CHARACTERS;
      }
      if (characters > MOST_CHARACTERS) return { touched: touched.slice(0, index), directories };
    }
  return { touched, directories };
}

/** Empty for the top, and above it. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Every directory above a path but the top. */
function directoriesOf(path: string): readonly string[] {
  const directories: string[] = [];
  for (let at = parentOf(path); at !== ""; at = parentOf(at)) directories.push(at);
  return directories;
}

function entryAt(trees: ReadonlyMap<string, Tree>, path: string) {
  const slash = path.lastIndexOf("/");
  return trees.get(slash === -1 ? "" : path.slice(0, slash))?.entries.get(path.slice(slash + 1));
}

/** Whether a directory is at the path, or something else than a directory above it. */
function isInTheWay(trees: ReadonlyMap<string, Tree>, path: string): boolean {
  if (entryAt(trees, path)?.mode === DIRECTORY_MODE) return true;
  return directoriesOf(path).some((directory) => {
    const entry = entryAt(trees, directory);
    return entry !== undefined && entry.mode !== DIRECTORY_MODE;
  });
}
