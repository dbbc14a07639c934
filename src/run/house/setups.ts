import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ok } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { isSlotUsed } from "../layers/slots.ts";
import { whileLocked } from "../locked.ts";
import { runPaths } from "../paths.ts";
import { cacheDirectory, resultDirectory, setupLock, setupPlace } from "../setup/setup-place.ts";
import { readSpec } from "../stages/spec.ts";
import { type HouseItem, type HouseKind, NOTHING, type Survey } from "./item.ts";
import { type HouseRepository, type HouseServices, isPast, sizeOf } from "./services.ts";
import { throwAway } from "./trash.ts";

/** Results of setup phases and caches that no run has used for long. */
export async function surveySetups(
  services: HouseServices,
  { principal, retention }: HouseRepository,
): Promise<Survey> {
  const { env, now } = services;
  const { repositoryId, topLevel } = principal;
  const place = setupPlace(join(env.stateDir, "setup"), repositoryId);
  const isOld = async (path: string): Promise<boolean> => {
    const stat = await lstat(path).catch(() => undefined);
    return stat !== undefined && isPast(stat.mtimeMs, retention.setupDays, now());
  };
  const items: HouseItem[] = [];
  const inUse = await pathsInUse(services, repositoryId);
  for (const [kind, directory] of [
    ["setup result", place.results],
    ["setup cache", place.caches],
  ] as const satisfies readonly (readonly [HouseKind, string])[])
    for (const name of await readdir(directory).catch(() => [])) {
      const path = join(directory, name);
      if (inUse.has(path) || !(await isOld(path)) || (await isSlotUsed(path))) continue;
      items.push({
        kind,
        what: path,
        run: null,
        repository: topLevel,
        why: "no run has used it for as long as retention.setup_days says",
        size: await sizeOf(path),
        when: "any-time",
        remove: () =>
          // Whoever makes or takes a result anew holds the lock.
          whileLocked(
            env,
            { path: setupLock(env.stateDir, repositoryId), doing: "setting up this repository" },
            async () => {
              const mayGo =
                (await isOld(path)) &&
                !(await isSlotUsed(path)) &&
                !(await pathsInUse(services, repositoryId)).has(path);
              if (!mayGo) return ok("kept");
              const gone = await throwAway(env.stateDir, path);
              return ok(gone === "gone" ? "kept" : "removed");
            },
          ),
      });
    }
  return { ...NOTHING, items };
}

/** Of runs that go on now, by their specs. */
async function pathsInUse(
  { env, history }: HouseServices,
  repositoryId: string,
): Promise<ReadonlySet<string>> {
  const specs = await Promise.all(
    history
      .runsInState(["running"], repositoryId)
      .map(({ id }) => readSpec(runPaths(env.stateDir, id))),
  );
  return new Set(specs.flatMap((spec) => (spec.ok ? pathsOf(env.stateDir, spec.value) : [])));
}

function pathsOf(stateDir: string, { setup, repository }: RunSpec): readonly string[] {
  if (setup === undefined) return [];
  const place = setupPlace(join(stateDir, "setup"), repository.id);
  return [
    resultDirectory(place, setup),
    ...setup.caches.map((name) => cacheDirectory(place, name)),
  ];
}
