import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { ownership } from "../sighting.ts";
import type { TreehousePool } from "./pool.ts";
import { type StatusRow, status } from "./status.ts";
import { commandLine } from "./command-line.ts";
import { wedgeSentences, worktreesOnDisk } from "./wedge.ts";

/** treehouse's own default for `max_trees`; the user's configuration may say otherwise. */
const DEFAULT_MAX_TREES = 16;
const NEARLY_FULL = DEFAULT_MAX_TREES - 2;

/** What is wrong with the pool and what to do, a sentence each. Changes nothing. */
export async function inspect(pool: TreehousePool): Promise<Result<readonly string[], Failure>> {
  const onDisk = await worktreesOnDisk(pool.root);
  const rows = await status(pool);
  if (!rows.ok) return rows;
  const sentences = [...wedgeSentences(onDisk, rows.value)];
  for (const row of rows.value) {
    const problem = await problemOf(pool, row);
    if (problem !== undefined) sentences.push(problem);
  }
  const busy = rows.value.filter((row) => row.status !== "available").length;
  if (busy >= NEARLY_FULL)
    sentences.push(
      `${busy} worktrees of the treehouse pool ${pool.root} are not available (its default limit is ${DEFAULT_MAX_TREES}); run \`guardloop recover\` to return the leases of dead runs.`,
    );
  return ok(sentences);
}

async function problemOf(pool: TreehousePool, row: StatusRow): Promise<string | undefined> {
  const slot = `treehouse slot ${row.name} (${row.path})`;
  const destroy = commandLine(["treehouse", "destroy", "--root", pool.root, row.path]);
  if (row.status === "damaged")
    return `${slot} is damaged and never handed out again; run: ${destroy} --include-unlanded --yes`;
  if ((await ownership(pool.git, row.path, pool.commonDir)) === "foreign")
    return `${slot} belongs to another clone; run: ${destroy} --include-unlanded --yes`;
  if (row.status === "leased" && row.lease_id === "")
    return `${slot} is held by ${row.lease_holder || "nobody"} without a lease id; if no run uses it, run: ${destroy} --include-leased --include-unlanded --yes`;
  return undefined;
}
