import { dirname } from "node:path";
import { copyTree } from "../../files/copy-tree.ts";
import { sweep, useSlot } from "../layers/slots.ts";
import { type WorkTree, seenAt } from "../snapshot/work-tree.ts";
import type { SetupManifest, SetupResult } from "./setup-result.ts";

/** What came into a work tree of a setup result. */
export interface PlacedSetup {
  readonly key: string;
  /** ISO 8601, UTC; when the commands made it. */
  readonly madeAt: string;
  readonly files: number;
  readonly links: number;
  readonly bytes: number;
  /** In whose place the work tree has something of its own. */
  readonly passedOver: number;
}

export interface Placed {
  readonly placed: PlacedSetup;
  /** Layers to lie under those of the work tree; empty where all was copied. */
  readonly under: readonly string[];
}

/**
 * Lets a work tree have a result, never in the place of what is there: the base may be an agent's branch that has made a
 * file of the same name its own. Over layers the result is one more, at the bottom, and in use for as long as the work tree
 * is there. Else it is copied; the files share their blocks with the result's where the file system can do that.
 */
export async function placeResult(
  result: SetupResult,
  workTree: WorkTree,
  owner: { readonly uid: number; readonly gid: number },
): Promise<Placed> {
  const { tree, manifest } = result;
  if (!canLieUnder(manifest, workTree, owner))
    return { placed: await copyResult(result, workTree), under: [] };
  const directory = dirname(tree);
  await sweep(directory);
  await useSlot({ directory }, workTree.top);
  const { key, madeAt, files, links, bytes } = manifest;
  return { placed: { key, madeAt, files, links, bytes, passedOver: 0 }, under: [tree] };
}

/** Where something of the work tree's would hide a part of the result, a copy finds out what. */
function canLieUnder(
  { owner, tops }: SetupManifest,
  workTree: WorkTree,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): boolean {
  if (workTree.under.length === 0) return false;
  // The container must be able to write to it, as to its own.
  if (owner?.uid !== uid || owner.gid !== gid) return false;
  return tops.every((top) => isFree(workTree, top.replace(/\/$/, "")));
}

/** Whether nothing is at a place, and nothing but directories above it. */
function isFree(workTree: WorkTree, path: string): boolean {
  const parts = path.split("/");
  for (const index of parts.keys()) {
    const there = seenAt(workTree, parts.slice(0, index + 1).join("/"));
    if (there === "nothing") return true;
    if (there === "other") return false;
  }
  return false;
}

async function copyResult(
  { tree, manifest }: SetupResult,
  workTree: WorkTree,
): Promise<PlacedSetup> {
  let under = 0;
  const copied = await copyTree({
    from: tree,
    to: workTree.top,
    judge(path, kind) {
      const there = seenAt(workTree, path);
      if (there === "nothing" || (there === "directory" && kind === "directory")) return "take";
      under += 1;
      return "leave";
    },
    // Judged when the result was kept, against the same tree of links.
    whyNoLink: () => undefined,
    limit: { bytes: Infinity, entries: Infinity },
    signal: new AbortController().signal,
  });
  const { files, links, bytes, leftOut } = copied;
  const { key, madeAt } = manifest;
  return { key, madeAt, files, links, bytes, passedOver: leftOut.total + under };
}
