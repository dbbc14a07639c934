import { randomBytes } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "../../core/errno.ts";
import { ok } from "../../core/result.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { syncDirectory } from "../../files/write-atomic.ts";
import { NOTHING, type Survey } from "./item.ts";
import { type HouseServices, sizeOf } from "./services.ts";

/**
 * Takes a directory or file of ours away in one step and then removes it. A crash in between leaves it in the trash,
 * where nothing looks for it and from where the next `gc` removes it: there is never half a record or half a worktree.
 * A path that is a link loses the link, not what it points to.
 *
 * @returns `gone` when there was nothing.
 */
export async function throwAway(stateDir: string, path: string): Promise<"thrown-away" | "gone"> {
  const trash = trashDirectory(stateDir);
  await ensurePrivateDirectory(trash);
  const aside = join(trash, randomBytes(12).toString("hex"));
  try {
    await rename(path, aside);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "gone";
    throw error;
  }
  await syncDirectory(dirname(path));
  await removeTree(aside);
  return "thrown-away";
}

/** What an interrupted removal left. */
export async function surveyTrash({ env }: HouseServices): Promise<Survey> {
  const trash = trashDirectory(env.stateDir);
  const names = await readdir(trash).catch(() => []);
  const items = await Promise.all(
    names.map(async (name) => {
      const path = join(trash, name);
      return {
        kind: "trash" as const,
        what: path,
        run: null,
        repository: null,
        why: "a removal was interrupted",
        size: await sizeOf(path),
        when: "any-time" as const,
        remove: async () => {
          await removeTree(path);
          return ok("removed" as const);
        },
      };
    }),
  );
  return { ...NOTHING, items };
}

function trashDirectory(stateDir: string): string {
  return join(stateDir, "trash");
}
