import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ok } from "../../core/result.ts";
import { layersLock, layersPlace } from "../layers/layers-place.ts";
import { isSlotUsed } from "../layers/slots.ts";
import { whileLocked } from "../locked.ts";
import { type HouseItem, type HouseKind, NOTHING, type Survey } from "./item.ts";
import { type HouseRepository, type HouseServices, isPast, sizeOf } from "./services.ts";
import { throwAway } from "./trash.ts";

const KINDS = [
  ["base store", "stores"],
  ["base tree", "trees"],
  ["let-in files", "let-in"],
] as const satisfies readonly (readonly [HouseKind, string])[];

interface Repository {
  readonly repositoryId: string;
  /** Null where the repository is not there any more. */
  readonly topLevel: string | null;
  readonly poolDays: number;
}

/** What snapshots lie on and no run has used for long. All of it can be had again from its repository. */
export async function surveyLayers(
  services: HouseServices,
  { principal, retention }: HouseRepository,
): Promise<Survey> {
  const { repositoryId, topLevel } = principal;
  const repository = { repositoryId, topLevel, poolDays: retention.poolDays };
  return { ...NOTHING, items: await itemsOf(services, repository) };
}

/** The same of repositories that are gone, or that no run is known of. */
export async function surveyGoneLayers(services: HouseServices): Promise<Survey> {
  const given = new Set(services.repositories.map(({ principal }) => principal.repositoryId));
  const names = await readdir(join(services.env.stateDir, "layers")).catch(() => []);
  const items: HouseItem[] = [];
  for (const repositoryId of names) {
    const topLevel = services.history.runs(repositoryId)[0]?.topLevel;
    const isThere = topLevel !== undefined && (await stat(topLevel).catch(() => undefined));
    if (given.has(repositoryId) || isThere) continue;
    const { poolDays } = services.retention;
    items.push(...(await itemsOf(services, { repositoryId, topLevel: null, poolDays })));
  }
  return { ...NOTHING, items };
}

async function itemsOf(
  services: HouseServices,
  repository: Repository,
): Promise<readonly HouseItem[]> {
  const { stateDir } = services.env;
  const place = layersPlace(stateDir, repository.repositoryId);
  const items: HouseItem[] = [];
  for (const [kind, directory] of KINDS)
    for (const name of await readdir(join(place, directory)).catch(() => [])) {
      const path = join(place, directory, name);
      if (!(await mayGo(services, repository, path))) continue;
      const lock = {
        path: layersLock(stateDir, repository.repositoryId),
        doing: "making a snapshot",
      };
      items.push({
        kind,
        what: path,
        run: null,
        repository: repository.topLevel,
        why: "no run has used it for as long as retention.pool_days says",
        size: await sizeOf(path),
        when: "any-time",
        remove: () =>
          whileLocked(services.env, lock, async () => {
            if (!(await mayGo(services, repository, path))) return ok("kept");
            const gone = await throwAway(stateDir, path);
            return ok(gone === "gone" ? "kept" : "removed");
          }),
      });
    }
  return items;
}

async function mayGo(
  { now }: HouseServices,
  { poolDays }: Repository,
  path: string,
): Promise<boolean> {
  const used = await stat(path).catch(() => undefined);
  return used !== undefined && isPast(used.mtimeMs, poolDays, now()) && !(await isSlotUsed(path));
}
