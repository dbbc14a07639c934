import { errnoOf } from "../../core/errno.ts";
import { lstat, readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ok } from "../../core/result.ts";
import { type HouseItem, type Survey, type Thing, NOTHING } from "./item.ts";
import { poolRoot } from "./pool.ts";
import { type HouseServices, isPast, sizeOf } from "./services.ts";
import { throwAway } from "./trash.ts";

/**
 * Pools of repositories that are not there any more. Git cannot be asked what is in them, and a repository may only be
 * on a disk that is not mounted now, so one goes only when it was not used for long, nothing of it is leased, and a
 * person says so.
 */
export async function surveyGonePools(services: HouseServices): Promise<Survey> {
  const root = poolRoot(services.env.stateDir);
  const items: HouseItem[] = [];
  const kept: Thing[] = [];
  for (const repositoryId of await readdir(root).catch(() => [])) {
    const pool = join(root, repositoryId);
    const repository = await whereItWas(services, repositoryId, pool);
    if (repository === undefined || (await isThere(repository))) continue;
    const thing = { kind: "worktree", what: pool, run: null, repository: null } as const;
    const gone = `its repository ${repository} is not there any more`;
    const state = await stateOf(services, pool);
    if (state !== "unused") {
      kept.push({ ...thing, why: `${gone}, but ${state}` });
      continue;
    }
    items.push({
      ...thing,
      why: `${gone}, and no run has used the pool for ${services.retention.poolDays} days`,
      size: await sizeOf(pool),
      when: "by-hand",
      remove: async () => {
        if ((await isThere(repository)) || (await stateOf(services, pool)) !== "unused")
          return ok("kept");
        await throwAway(services.env.stateDir, pool);
        return ok("removed");
      },
    });
  }
  return { ...NOTHING, items, kept };
}

/** From the pointer of one of the pool's worktrees, else from the history; undefined where neither tells. */
async function whereItWas(
  { history }: HouseServices,
  repositoryId: string,
  pool: string,
): Promise<string | undefined> {
  for (const path of await worktreesIn(pool)) {
    const pointer = await readFile(join(path, ".git"), "utf8").catch(() => "");
    const commonDir = /^gitdir: (\/.*)\/worktrees\/[^/\n]+\n?$/.exec(pointer)?.[1];
    if (commonDir !== undefined) return commonDir;
  }
  return history.runs(repositoryId)[0]?.topLevel;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    // Only this one says that it is not there; a disk that fails or a right that is missing does not.
    (error: unknown) => errnoOf(error) !== "ENOENT",
  );
}

/** `unused`, or what speaks against that. */
async function stateOf({ retention, now }: HouseServices, pool: string): Promise<string> {
  if ((await lstat(join(pool, "treehouse")).catch(() => undefined)) !== undefined)
    return "treehouse keeps a pool in there";
  for (const slot of await slotsIn(pool)) {
    const lease = join(slot, ".lease");
    if ((await readdir(lease).catch(() => [])).length > 0) return "a worktree of it is leased";
    const used = await lstat(lease).catch(() => undefined);
    if (!isPast(used?.mtimeMs ?? Number.NaN, retention.poolDays, now()))
      return `it was used within the last ${retention.poolDays} days`;
  }
  return "unused";
}

async function slotsIn(pool: string): Promise<readonly string[]> {
  const names = await readdir(pool).catch(() => []);
  return names.filter((name) => /^[1-9]\d*$/.test(name)).map((name) => join(pool, name));
}

async function worktreesIn(pool: string): Promise<readonly string[]> {
  const slots = await slotsIn(pool);
  const names = await Promise.all(slots.map((slot) => readdir(slot).catch(() => [])));
  return slots.flatMap((slot, index) =>
    (names[index] ?? []).filter((name) => !name.startsWith(".")).map((name) => join(slot, name)),
  );
}
