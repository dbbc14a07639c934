import { type Failure, fail } from "../core/failures.ts";
import { LIMITS } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { blobSizes } from "./blobs.ts";
import { type Git, gitFailure } from "./git.ts";
import { refuseObeyedFiles } from "./obeyed-files.ts";
import { refuseEntries } from "./refuse-entries.ts";
import {
  type ChangedEntry,
  type TreeStep,
  addedAmong,
  addedEntries,
  changesOfSteps,
} from "./tree-check.ts";

export type TreeLimits = Readonly<Record<"treePaths" | "blobBytes" | "allBlobBytes", number>>;

/**
 * Checks what one commit brings: names, modes, repositories in the tree, sizes, and files that Git obeys. Every commit
 * of a branch can be checked out, so every one is looked at, not the last alone.
 *
 * @returns the bytes of its new and changed blobs together.
 */
export async function refuseStep(
  git: Git,
  step: { readonly from: string; readonly to: string },
  limits: TreeLimits = LIMITS,
): Promise<Result<number, Failure>> {
  const entries = await addedEntries(git, step.from, step.to);
  if (!entries.ok) return entries;
  const sizes = await blobSizes(git, newBlobs(entries.value));
  return sizes.ok ? refuseAdded(git, entries.value, { sizes: sizes.value, limits }) : sizes;
}

/** The checks of a step whose differences and sizes are known already; answers as `refuseStep`. */
export interface KnownStep {
  readonly check: () => Promise<Result<number, Failure>>;
}

/**
 * Prepares the checks of many steps with two starts of Git, whatever their number. Each is still to be made, in order:
 * the first that refuses is the reason.
 *
 * @param steps ids of trees.
 * @param known sizes of blobs whose content was hashed here.
 */
export async function knownSteps(
  git: Git,
  steps: readonly TreeStep[],
  known: ReadonlyMap<string, number> = new Map(),
): Promise<Result<readonly KnownStep[], Failure>> {
  const limits = LIMITS;
  const changes = await changesOfSteps(git, steps);
  if (!changes.ok) return changes;
  const unknown = changes.value.flatMap(newBlobs).filter((blob) => !known.has(blob));
  const found = await blobSizes(git, unknown);
  if (!found.ok) return found;
  const sizes = new Map([...known, ...found.value]);
  return ok(
    steps.map((step, index) => ({
      async check() {
        const added = await addedAmong(git, step, changes.value[index] ?? []);
        return added.ok ? refuseAdded(git, added.value, { sizes, limits }) : added;
      },
    })),
  );
}

function newBlobs(entries: readonly ChangedEntry[]): readonly string[] {
  return entries.map((entry) => entry.newBlob);
}

async function refuseAdded(
  git: Git,
  entries: readonly ChangedEntry[],
  { sizes, limits }: { readonly sizes: ReadonlyMap<string, number>; readonly limits: TreeLimits },
): Promise<Result<number, Failure>> {
  const allowed = refuseEntries(entries);
  if (!allowed.ok) return allowed;
  const sizeOf = (blob: string): number => sizes.get(blob) ?? 0;
  const large = entries.find((entry) => sizeOf(entry.newBlob) > limits.blobBytes);
  if (large !== undefined)
    return fail(
      "import-refused",
      `${JSON.stringify(large.path)} has ${sizeOf(large.newBlob)} bytes; the limit of one file is ${limits.blobBytes}.`,
    );
  const obeyed = await refuseObeyedFiles(git, entries);
  if (!obeyed.ok) return obeyed;
  return ok([...new Set(newBlobs(entries))].reduce((sum, blob) => sum + sizeOf(blob), 0));
}

/** Refuses a series whose new and changed files are too large together. */
export function refuseBlobBytes(total: number, limits: TreeLimits = LIMITS): Result<void, Failure> {
  if (total <= limits.allBlobBytes) return ok(undefined);
  return fail(
    "import-refused",
    `The new and changed files have ${total} bytes together; the limit is ${limits.allBlobBytes}.`,
  );
}

/** Walks the tree of a commit and stops where it has more paths than the limit: a small pack can hold a hundred million. */
export async function refuseTreeSize(
  git: Git,
  commit: string,
  limits: TreeLimits = LIMITS,
): Promise<Result<void, Failure>> {
  const enough = new AbortController();
  let paths = 0;
  const args = ["ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit];
  const exit = await git.exec(args, {
    signal: enough.signal,
    maxOutputBytes: 4096,
    onOutput: (stream, chunk) => {
      if (stream === "stdout") paths += count(chunk, 0);
      if (paths > limits.treePaths) enough.abort();
    },
  });
  if (paths > limits.treePaths)
    return fail(
      "import-refused",
      `The imported tree has more than ${limits.treePaths} paths, which is the limit.`,
    );
  return exit.code === 0 && exit.ended === "by-itself"
    ? ok(undefined)
    : { ok: false, error: gitFailure(args, exit) };
}

function count(chunk: Buffer, byte: number): number {
  let found = 0;
  for (let at = chunk.indexOf(byte); at !== -1; at = chunk.indexOf(byte, at + 1)) found += 1;
  return found;
}
