import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { worthOfDirectory, worthOfWorktree } from "../worth.ts";
import { ownership } from "../sighting.ts";
import type { TreehousePool } from "./pool.ts";
import { status } from "./status.ts";
import { worktreesOnDisk } from "./wedge.ts";

/** Worktrees on disk that treehouse's state does not know. The disk first: `status` waits for a `get` that is under way. */
export async function wedged(pool: TreehousePool): Promise<Result<readonly string[], Failure>> {
  const onDisk = await worktreesOnDisk(pool.root);
  const rows = await status(pool);
  if (!rows.ok) return rows;
  const known = new Set(rows.value.map((row) => row.path));
  return ok(onDisk.filter((path) => !known.has(path)));
}

/** Removes one that a killed call left, with its registration, unless it holds something. */
export async function unwedge(
  pool: TreehousePool,
  path: string,
): Promise<Result<string | undefined, Failure>> {
  const still = await wedged(pool);
  if (!still.ok) return still;
  if (!still.value.includes(path)) return ok(undefined);
  const { git, commonDir } = pool;
  const owner = await ownership(git, path, commonDir);
  if (owner === "foreign") return ok("it belongs to another repository");
  const worth =
    owner === "ours"
      ? await worthOfWorktree(git, path)
      : await worthOfDirectory(git, commonDir, path);
  if (worth !== undefined) return ok(worth);
  await removeTree(path);
  // Twice: a `worktree add` that was killed has left it locked.
  await git.exec(["worktree", "remove", "--force", "--force", path]);
  return ok(undefined);
}
