import { copyTree } from "../../files/copy-tree.ts";
import { type WorkTree, seenAt } from "../snapshot/work-tree.ts";
import type { SetupResult } from "./setup-result.ts";

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

/**
 * Copies a result into a fresh work tree, never over what is there: the base may be an agent's branch that has made a file of
 * the same name its own. The files share their blocks with the result's where the file system can do that.
 */
export async function placeResult(
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
