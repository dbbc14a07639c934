import {
  constants,
  copyFileSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  rmSync,
  rmdirSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { errnoOf } from "../../core/errno.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import type { FileOwner } from "../../files/ownership.ts";
import { bootId } from "../../process/owner.ts";
import { type Looked, lookAt } from "./file-state.ts";
import { type Slot, type SlotPool, fillSlot, newSlot, useSlot } from "./slots.ts";

/** One for each set of rules, and one more for each state of the files that a run still works over. */
const MOST_LAYERS = 4;

/** A file of a layer: the work tree it is from, and the state of the file there that was copied. */
export type KeptFile = readonly [from: string, state: string];

export interface WantedFile {
  readonly from: string;
  readonly looked: Looked;
}

export interface LetInState {
  readonly version: 1;
  readonly uid: number;
  readonly gid: number;
  /** The start of the machine since which nothing can have been lost of what was written. */
  readonly boot: string;
  /** Which guardloop judged: another one may judge otherwise. */
  readonly judge: string;
  readonly files: Readonly<Record<string, KeptFile>>;
  /** Files that were read and judged, by work tree and path: their state, then why they are kept out, or "". */
  readonly judged: Readonly<Record<string, readonly [state: string, keptOut: string]>>;
}

/** Written by the host alone, and large: the entries are taken as they are. */
function entries<T>() {
  return z.custom<Readonly<Record<string, T>>>(
    (value) => typeof value === "object" && value !== null,
  );
}
const STATE = z.object({
  version: z.literal(1),
  uid: z.number(),
  gid: z.number(),
  boot: z.string(),
  judge: z.string(),
  files: entries<KeptFile>(),
  judged: entries<readonly [state: string, keptOut: string]>(),
});

export function letInPool(directory: string): SlotPool<LetInState> {
  return {
    directory: join(directory, "let-in"),
    parse: (value) => STATE.safeParse(value).data,
  };
}

/** What earlier layers remember of files that were judged; nothing of what another guardloop thought. */
export function judgedEarlier(
  slots: readonly Slot<LetInState>[],
  judge: string,
): readonly LetInState["judged"][] {
  return slots.flatMap(({ state }) => (state?.judge === judge ? [state.judged] : []));
}

export interface LetInRequest {
  readonly pool: SlotPool<LetInState>;
  readonly slots: readonly Slot<LetInState>[];
  readonly owner: FileOwner;
  /** See `useSlot`. */
  readonly holder: string;
  readonly wanted: ReadonlyMap<string, WantedFile>;
  readonly judged: LetInState["judged"];
  readonly judge: string;
}

export interface LetInLayer {
  readonly files: string;
  /** Files that could not be copied, each with the system's name for why, or CHANGED. */
  readonly failed: ReadonlyMap<string, string>;
}

/**
 * A layer with exactly these files: one that has them, else an idle one that is brought there by difference, else a new
 * one. To be called under the lock of the layers.
 *
 * @returns undefined where all are in use with others.
 */
export async function provideLetIn(
  request: LetInRequest,
): Promise<Result<LetInLayer | undefined, Failure>> {
  const { slots, pool, holder, owner, wanted, judged } = request;
  const same = slots.find(({ state }) => isFit(state, owner) && hasAll(state, wanted));
  if (same !== undefined) {
    await useSlot(same, holder);
    return ok({ files: filesOf(same), failed: new Map() });
  }
  const idle = slots
    .filter(({ use }) => use === "idle")
    .toSorted((a, b) => b.lastTaken - a.lastTaken)[0];
  if (idle === undefined && slots.length >= MOST_LAYERS) return ok(undefined);
  const slot = idle ?? newSlot(pool, slots);
  const failed = new Map<string, string>();
  const filled = await fillSlot(slot, holder, async () => {
    const files = filesOf(slot);
    const before = isFit(slot.state, owner) ? slot.state.files : undefined;
    if (before === undefined) await removeTree(files);
    mkdirSync(files, { recursive: true });
    const now = bringTo({ files, owner, before: before ?? {}, wanted, failed });
    const { uid, gid } = owner;
    return ok({
      version: 1,
      uid,
      gid,
      boot: bootId(),
      judge: request.judge,
      files: now,
      judged,
    } as const);
  });
  return filled.ok ? ok({ files: filesOf(slot), failed }) : filled;
}

function filesOf({ directory }: Slot<LetInState>): string {
  return join(directory, "files");
}

function isFit(state: LetInState | undefined, { uid, gid }: FileOwner): state is LetInState {
  return state?.uid === uid && state.gid === gid && state.boot === bootId();
}

function hasAll({ files }: LetInState, wanted: LetInRequest["wanted"]): boolean {
  if (Object.keys(files).length !== wanted.size) return false;
  for (const [path, file] of wanted) if (!isKept(files[path], file)) return false;
  return true;
}

function isKept(kept: KeptFile | undefined, wanted: WantedFile | undefined): boolean {
  if (kept === undefined || wanted === undefined) return false;
  const { from, looked } = wanted;
  return looked.changed === "earlier" && kept[0] === from && kept[1] === looked.state;
}

interface Move {
  readonly files: string;
  readonly owner: FileOwner;
  readonly before: LetInState["files"];
  readonly wanted: LetInRequest["wanted"];
  readonly failed: Map<string, string>;
}

/** Calls of the file system are made one after another without waiting: for many small files that is the quickest. */
function bringTo({ files, owner, before, wanted, failed }: Move): LetInState["files"] {
  const now: Record<string, KeptFile> = {};
  const emptied = new Set<string>();
  for (const [path, kept] of Object.entries(before)) {
    if (isKept(kept, wanted.get(path))) now[path] = kept;
    else {
      rmSync(join(files, path), { force: true });
      emptied.add(dirname(path));
    }
  }
  for (const path of emptied) prune(files, path);
  const made = new Set(["."]);
  for (const [path, file] of wanted) {
    if (now[path] !== undefined) continue;
    const why = take({ files, path, file, owner, made });
    if (why === undefined) now[path] = [file.from, file.looked.state];
    else failed.set(path, why);
  }
  return now;
}

/** Directories that nothing is in any more. */
function prune(files: string, path: string): void {
  for (let directory = path; directory !== "."; directory = dirname(directory))
    try {
      rmdirSync(join(files, directory));
    } catch {
      return;
    }
}

interface Take {
  readonly files: string;
  readonly path: string;
  readonly file: WantedFile;
  readonly owner: FileOwner;
  /** Directories that are known to be there. */
  readonly made: Set<string>;
}

/** Instead of the system's name for a problem. */
export const CHANGED = "changed";
/** The user works on meanwhile: a file can be gone, or closed to us; and two work trees can contradict each other. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  "ENOENT",
  "EACCES",
  "EPERM",
  "ELOOP",
  "ENOTDIR",
  "EEXIST",
  "EISDIR",
]);

/** @returns the system's name for why it could not be copied, or undefined when it was. */
function take({ files, path, file, owner, made }: Take): string | undefined {
  try {
    makeDirectory(files, dirname(path), { owner, made });
    const source = join(file.from, path);
    const target = join(files, path);
    copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    lchownSync(target, owner.uid, owner.gid);
    // What was judged is what was copied, and not what another program has put in its place meanwhile.
    if (lookAt(source)?.state === file.looked.state) return undefined;
    rmSync(target);
    return CHANGED;
  } catch (error) {
    const errno = errnoOf(error);
    if (PASSED_OVER.has(errno)) return errno;
    throw error;
  }
}

function makeDirectory(
  files: string,
  path: string,
  { owner, made }: Pick<Take, "owner" | "made">,
): void {
  if (made.has(path)) return;
  makeDirectory(files, dirname(path), { owner, made });
  const directory = join(files, path);
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    mkdirSync(directory, { mode: 0o755 });
    lchownSync(directory, owner.uid, owner.gid);
  }
  made.add(path);
}
