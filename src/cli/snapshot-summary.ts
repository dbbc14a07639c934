import { readFile } from "node:fs/promises";
import type { OverlayReport } from "../run/snapshot/overlay.ts";

/** What of the files that Git does not track came into a snapshot, and by which rules. */
export interface SnapshotSummary {
  readonly letIn: number;
  /** A directory that was kept out whole counts once. */
  readonly keptOut: number;
  /** The one that decided about most files first. */
  readonly rules: readonly {
    readonly verdict: "in" | "out";
    readonly rule: string;
    readonly files: number;
  }[];
}

/** Undefined where a run came to no snapshot. */
export async function readSnapshotSummary(path: string): Promise<SnapshotSummary | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  // Our own file in a directory that only we can write.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { copied, keptOut } = JSON.parse(text) as OverlayReport;
  const rules = [...counted("in", copied), ...counted("out", keptOut)];
  return {
    letIn: copied.length,
    keptOut: keptOut.length,
    rules: rules.toSorted((a, b) => b.files - a.files),
  };
}

function counted(
  verdict: "in" | "out",
  files: OverlayReport["copied"],
): SnapshotSummary["rules"][number][] {
  const counts = new Map<string, number>();
  for (const { rule } of files) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return Array.from(counts, ([rule, count]) => ({ verdict, rule, files: count }));
}
