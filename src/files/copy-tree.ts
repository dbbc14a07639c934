import { constants } from "node:fs";
import { chmod, copyFile, lstat, mkdir, opendir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";
import { LIMITS } from "../core/limits.ts";
import type { DiskUse } from "../core/run-spec.ts";

/** Entries that are copied at once. */
const BATCH = 32;
const NAMED = 50;
/** What is copied is data: no set-user-id, nothing that others may write, nothing that its owner cannot remove. */
const PLAIN_MODE = 0o644;
const EXECUTABLE_MODE = 0o755;
/** A source that cannot be read is left out; whatever else goes wrong is the target's disk. */
const UNREADABLE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "ENOENT", "ELOOP"]);

export type EntryKind = "file" | "directory" | "link";

export interface CopyTreeOptions {
  readonly from: string;
  readonly to: string;
  /**
   * `take` copies an entry, also an empty directory; `look-inside` goes into a directory without making it; `leave` passes
   * over it in silence. Asked for a directory before what is in it.
   */
  readonly judge: (path: string, kind: EntryKind) => "take" | "look-inside" | "leave";
  /** Judges the links, when all of them are known: why one is left out, or undefined. */
  readonly whyNoLink: (
    link: { readonly path: string; readonly target: string },
    all: ReadonlyMap<string, string>,
  ) => string | undefined;
  readonly limit: DiskUse;
  readonly signal: AbortSignal;
}

export interface CopiedTree {
  /** `over`: the limit was reached. `deep`: nested deeper than any path should be. Then the copy is not whole. */
  readonly outcome: "whole" | "over" | "deep" | "stopped";
  readonly files: number;
  readonly links: number;
  readonly bytes: number;
  readonly leftOut: {
    readonly total: number;
    /** The first ones, each with why. */
    readonly some: readonly { readonly path: string; readonly why: string }[];
  };
}

/**
 * Copies a tree that a container may have filled: regular files, directories and the links that `whyNoLink` lets pass. The
 * container must be proven gone. No link is followed on either side, and nothing that is there is written over. Devices,
 * pipes, repositories (`.git`) and names that are not UTF-8 are left out.
 *
 * @throws what the target's file system refuses, for example ENOSPC.
 */
export async function copyTree(options: CopyTreeOptions): Promise<CopiedTree> {
  const copy: Copy = {
    ...options,
    made: new Set(),
    found: new Map(),
    wanted: [],
    files: 0,
    links: 0,
    bytes: 0,
    entries: 0,
    total: 0,
    some: [],
  };
  const outcome = await copyDirectory(copy, "", 0);
  if (outcome === "whole") for (const path of copy.wanted) await copyLink(copy, path);
  const { files, links, bytes, total, some } = copy;
  return { outcome, files, links, bytes, leftOut: { total, some } };
}

interface Copy extends CopyTreeOptions {
  /** Directories of the target that are known to be real ones. */
  readonly made: Set<string>;
  /** Every link of the source, path to target. */
  readonly found: Map<string, string>;
  /** Links that are to be copied. */
  readonly wanted: string[];
  files: number;
  links: number;
  bytes: number;
  entries: number;
  total: number;
  readonly some: { path: string; why: string }[];
}

function leaveOut(copy: Copy, path: string, why: string): void {
  copy.total += 1;
  if (copy.some.length < NAMED) copy.some.push({ path, why });
}

async function copyDirectory(
  copy: Copy,
  path: string,
  depth: number,
): Promise<CopiedTree["outcome"]> {
  if (depth > LIMITS.pathDepth) return "deep";
  const below: string[] = [];
  let batch: string[] = [];
  for await (const name of namesIn(copy, path)) {
    batch.push(path === "" ? name : `${path}/${name}`);
    if (batch.length < BATCH) continue;
    const ended = await copyBatch(copy, batch, below);
    if (ended !== undefined) return ended;
    batch = [];
  }
  const ended = await copyBatch(copy, batch, below);
  if (ended !== undefined) return ended;
  for (const directory of below) {
    const outcome = await copyDirectory(copy, directory, depth + 1);
    if (outcome !== "whole") return outcome;
  }
  return "whole";
}

async function* namesIn(copy: Copy, path: string): AsyncGenerator<string> {
  let directory;
  try {
    // Latin-1 gives every byte a character, so that a name that is not UTF-8 is seen.
    directory = await opendir(join(copy.from, path), { encoding: "latin1", bufferSize: BATCH });
  } catch (error) {
    if (!UNREADABLE.has(errnoOf(error))) throw error;
    return leaveOut(copy, path, "cannot be read");
  }
  for await (const { name: bytes } of directory) {
    const name = Buffer.from(bytes, "latin1").toString("utf8");
    const where = path === "" ? name : `${path}/${name}`;
    if (Buffer.from(name, "utf8").toString("latin1") !== bytes)
      leaveOut(copy, where, "has a name that is not UTF-8");
    else if (name.toLowerCase() === ".git") {
      if (path !== "") leaveOut(copy, where, "belongs to a repository");
    } else yield name;
  }
}

async function copyBatch(
  copy: Copy,
  paths: readonly string[],
  below: string[],
): Promise<"over" | "stopped" | undefined> {
  const kinds = await Promise.all(paths.map((path) => copyEntry(copy, path)));
  for (const [index, kind] of kinds.entries()) if (kind === "enter") below.push(paths[index] ?? "");
  if (copy.bytes > copy.limit.bytes || copy.entries > copy.limit.entries) return "over";
  return copy.signal.aborted ? "stopped" : undefined;
}

async function copyEntry(copy: Copy, path: string): Promise<"enter" | "done"> {
  const stat = await lstat(join(copy.from, path));
  if (stat.isDirectory()) {
    const verdict = copy.judge(path, "directory");
    if (verdict === "leave") return "done";
    if (verdict === "take") copy.entries += 1;
    if (verdict === "take" && !(await makeDirectory(copy, path)))
      leaveOut(copy, path, "something else is at this place");
    return "enter";
  }
  if (stat.isSymbolicLink()) {
    copy.found.set(path, await readlink(join(copy.from, path)));
    if (copy.judge(path, "link") === "take") copy.wanted.push(path);
    return "done";
  }
  if (!stat.isFile()) leaveOut(copy, path, "is neither a file nor a link");
  else if (copy.judge(path, "file") === "take") {
    copy.entries += 1;
    copy.bytes += stat.size;
    // Not begun beyond the limit: one sparse file can say that it is larger than any disk.
    if (copy.bytes <= copy.limit.bytes) await copyOne(copy, path, stat.mode);
  }
  return "done";
}

async function copyOne(copy: Copy, path: string, mode: number): Promise<void> {
  if (!(await makeDirectory(copy, parentOf(path))))
    return leaveOut(copy, path, "something else is at its directory's place");
  const target = join(copy.to, path);
  try {
    const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    await copyFile(join(copy.from, path), target, flags);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EEXIST") return leaveOut(copy, path, "something is at its place");
    if (UNREADABLE.has(code)) return leaveOut(copy, path, `cannot be read (${code})`);
    throw error;
  }
  const plain = (mode & 0o111) === 0 ? PLAIN_MODE : EXECUTABLE_MODE;
  if ((mode & 0o7777) !== plain) await chmod(target, plain);
  copy.files += 1;
}

async function copyLink(copy: Copy, path: string): Promise<void> {
  const target = copy.found.get(path) ?? "";
  const why = copy.whyNoLink({ path, target }, copy.found);
  if (why !== undefined) return leaveOut(copy, path, why);
  if (!(await makeDirectory(copy, parentOf(path))))
    return leaveOut(copy, path, "something else is at its directory's place");
  try {
    await symlink(target, join(copy.to, path));
    copy.links += 1;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    leaveOut(copy, path, "something is at its place");
  }
}

function parentOf(path: string): string {
  return path.split("/").slice(0, -1).join("/");
}

/** Whether there is a real directory at the place now, and at every place above it. */
async function makeDirectory(copy: Copy, path: string): Promise<boolean> {
  if (path === "" || copy.made.has(path)) return true;
  if (!(await makeDirectory(copy, parentOf(path)))) return false;
  const target = join(copy.to, path);
  try {
    await mkdir(target, { mode: 0o755 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    const stat = await lstat(target);
    if (!stat.isDirectory()) return false;
  }
  copy.made.add(path);
  return true;
}
