import { dirname } from "node:path";
import { fail } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { errnoOf } from "../../core/errno.ts";
import { isHeld } from "../../files/lock-file.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { setAside, trashContent, trashLock } from "../../files/trash.ts";
import { syncDirectory } from "../../files/write-atomic.ts";
import { type HouseItem, NOTHING, type Survey } from "./item.ts";
import { type HouseServices, sizeOf } from "./services.ts";

/**
 * Takes a directory or file of ours away in one step and then removes it. A crash in between leaves it in the trash,
 * where nothing looks for it and from where the next command that empties the trash removes it: there is never half a
 * record or half a worktree. A path that is a link loses the link, not what it points to.
 *
 * @returns `gone` when there was nothing.
 */
export async function throwAway(stateDir: string, path: string): Promise<"thrown-away" | "gone"> {
  const aside = await setAside(stateDir, path);
  if (aside === undefined) return "gone";
  await syncDirectory(dirname(path));
  await removeTree(aside);
  return "thrown-away";
}

/** What waits to be removed, and what could not be. While a process is removing it in the background, it stays. */
export async function surveyTrash({ env }: HouseServices): Promise<Survey> {
  const { stateDir, hostname } = env;
  const { waiting, stuck } = await trashContent(stateDir);
  const isAtWork = (): Promise<boolean> => isHeld(trashLock(stateDir), hostname);
  const stuckItems = await Promise.all(
    stuck.map((path) =>
      trashItem(path, { why: "it could not be removed before", when: "by-hand", isAtWork }),
    ),
  );
  if (waiting.length > 0 && (await isAtWork())) {
    const why = "it is being removed in the background right now";
    const kept = waiting.map((what) => ({ ...THING, what, why }));
    return { ...NOTHING, items: stuckItems, kept };
  }
  const items = await Promise.all(
    waiting.map((path) =>
      trashItem(path, { why: "a removal was interrupted", when: "any-time", isAtWork }),
    ),
  );
  return { ...NOTHING, items: [...items, ...stuckItems] };
}

const THING = { kind: "trash", run: null, repository: null } as const;

async function trashItem(
  path: string,
  given: Pick<HouseItem, "why" | "when"> & { readonly isAtWork: () => Promise<boolean> },
): Promise<HouseItem> {
  const { isAtWork, ...rest } = given;
  return {
    ...THING,
    ...rest,
    what: path,
    size: await sizeOf(path),
    remove: async () => {
      if (await isAtWork()) return ok("kept");
      try {
        await removeTree(path);
        return ok("removed");
      } catch (error) {
        const code = errnoOf(error);
        if (code !== "EACCES" && code !== "EPERM") throw error;
        return fail(
          "state-unusable",
          `a part of it belongs to another user (${code}); remove it as root: sudo rm -rf -- '${path}'`,
        );
      }
    },
  };
}
