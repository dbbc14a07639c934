import type { RunRecord } from "../../core/run-record.ts";
import type { Validation } from "../../core/run-spec.ts";
import type { Landing } from "../../run/decide/landing.ts";
import type { Output } from "./output.ts";
import { bold, dim } from "./text.ts";

/** What new commits a promotion would land, and how they differ from what was reviewed. */
export function printLanding(output: Output, run: RunRecord, landing: Landing): void {
  if (landing.how === "fast-forward") return;
  const { how, branch, before, commits, files, dropped, comparison } = landing;
  const what =
    how === "squash"
      ? "Everything as one commit"
      : `${commits} ${commits === 1 ? "commit" : "commits"}`;
  output.result(
    bold(`${run.task ?? run.id}: ${what} on top of ${branch} ${before.slice(0, 12)}`),
    `, ${files} ${files === 1 ? "file" : "files"}.`,
  );
  for (const subject of dropped) output.result(`  Left out, ${branch} has it already: `, subject);
  if (comparison === null) return;
  if (comparison.verdict === "same")
    return output.result("  The patches are unchanged: the same as in the review.");
  output.result(
    "  The patches, or the lines around them, changed (old, new; as in git range-diff):",
  );
  for (const line of comparison.lines) output.result(dim("  "), line);
}

/** What was done, or would be. */
export function promotionLines(
  { id, task }: RunRecord,
  at: {
    readonly mode: "for-real" | "dry-run";
    readonly landing: Landing;
    /** The validation of exactly the tree that lands. */
    readonly validated: Validation | undefined;
  },
): readonly string[] {
  const { how, before, after, branch } = at.landing;
  const by = how === "fast-forward" ? "" : ` by ${how}`;
  const range = `${branch} ${before.slice(0, 12)} -> ${after.slice(0, 12)}`;
  if (at.mode === "for-real")
    return [
      `Promoted ${task ?? id}${by}: ${range}.`,
      `Take it back with: guardloop rollback ${id}`,
    ];
  const missing =
    how !== "fast-forward" && at.validated?.verdict !== "passed"
      ? [
          "Its tree has not passed a validation yet: promote runs your commands on it first, if you name any.",
        ]
      : [];
  return [`Would promote ${task ?? id}${by}: ${range}. Nothing was changed.`, ...missing];
}
