import { createHash } from "node:crypto";
import type { SeriesChange } from "./commit-series.ts";
import type { FileBefore } from "./narrow-index.ts";
import type { FileDiff, Hunk } from "./plain-mail.ts";

/** So many bytes of files are made before Git gets them; one more patch may go over it. */
const MOST_BYTES = 32 * 1024 * 1024;

interface File {
  readonly mode: string;
  /** With their line feeds. */
  readonly lines: readonly string[];
}

/** Files in memory that patches are applied to, one after another. */
export interface PlainFiles {
  /**
   * Applies the sections of one patch at just the places that they name.
   *
   * @returns what changed; undefined where it does not fit, or is too much. After that it is of no use any more.
   */
  readonly apply: (diffs: readonly FileDiff[]) => readonly SeriesChange[] | undefined;
}

/** @param before of every path that the patches may touch, what is there; undefined where nothing is. */
export function plainFiles(before: ReadonlyMap<string, FileBefore | undefined>): PlainFiles {
  const now = new Map<string, File | undefined>();
  const below = new Map<string, number>();
  for (const [path, file] of before) if (file !== undefined) count(below, path, 1);
  const isThere = (path: string): boolean =>
    (now.has(path) ? now.get(path) : before.get(path)) !== undefined;
  /** The files below it, or one above it. */
  const isInTheWay = (path: string): boolean =>
    (below.get(path) ?? 0) > 0 || directoriesOf(path).some(isThere);
  let bytes = 0;
  return {
    apply(diffs) {
      const changed = new Map<string, FileDiff["kind"]>();
      for (const diff of diffs) {
        const { path } = diff;
        if (!before.has(path) || isTooOften(changed.get(path), diff.kind)) return undefined;
        const old = now.has(path) ? now.get(path) : opened(before.get(path));
        const file = applied(diff, old);
        if (file === "misfit") return undefined;
        count(below, path, Number(file !== undefined) - Number(old !== undefined));
        now.set(path, file);
        changed.set(path, diff.kind);
      }
      if (bytes > MOST_BYTES) return undefined;
      if ([...changed.keys()].some((path) => isThere(path) && isInTheWay(path))) return undefined;
      const changes = [...changed.keys()].map((path) => changeOf(path, now.get(path)));
      for (const { blob } of changes) bytes += blob?.content?.length ?? 0;
      return changes;
    },
  };
}

/**
 * Git names a path twice in one patch where a file takes a link's place, or the other way round. Many sections for one
 * file would copy it as often.
 */
function isTooOften(first: FileDiff["kind"] | undefined, second: FileDiff["kind"]): boolean {
  return first !== undefined && (first !== "deleted" || second !== "added");
}

function opened(file: FileBefore | undefined): File | undefined {
  return file && { mode: file.mode, lines: linesOf(file.content.toString("latin1")) };
}

/** Keeps the number of files below each directory. */
function count(below: Map<string, number>, path: string, by: number): void {
  if (by === 0) return;
  for (const directory of directoriesOf(path))
    below.set(directory, (below.get(directory) ?? 0) + by);
}

function directoriesOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function applied(diff: FileDiff, old: File | undefined): File | undefined | "misfit" {
  const { kind, hunks } = diff;
  if ((old === undefined) !== (kind === "added")) return "misfit";
  const lines = replaced(old?.lines ?? [], hunks);
  if (lines === undefined) return "misfit";
  if (kind === "deleted") return lines.length === 0 ? undefined : "misfit";
  const mode = diff.mode ?? old?.mode;
  return mode === undefined ? "misfit" : { mode, lines };
}

function replaced(old: readonly string[], hunks: readonly Hunk[]): readonly string[] | undefined {
  const parts: (readonly string[])[] = [];
  let done = 0;
  for (const { at, before, after } of hunks) {
    if (at < done || at + before.length > old.length) return undefined;
    if (!before.every((line, index) => line === old[at + index])) return undefined;
    parts.push(old.slice(done, at), after);
    done = at + before.length;
  }
  const lines = [...parts, old.slice(done)].flat();
  // Only the last line can be without a line feed.
  return lines.slice(0, -1).every((line) => line.endsWith("\n")) ? lines : undefined;
}

function changeOf(path: string, file: File | undefined): SeriesChange {
  if (file === undefined) return { path, blob: undefined };
  const content = Buffer.from(file.lines.join(""), "latin1");
  const id = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
  return { path, blob: { mode: file.mode, id, content } };
}
