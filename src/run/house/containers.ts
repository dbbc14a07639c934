import { ok } from "../../core/result.ts";
import { isHeld } from "../../files/lock-file.ts";
import { runPaths, stateId } from "../paths.ts";
import type { HouseItem, Survey } from "./item.ts";
import type { HouseServices } from "./services.ts";

/** As `newRunId` makes them; the short checks of an image have other words in the label, and are somebody's who waits. */
const RUN_ID = /^\d{6}-\d{6}-[0-9a-z]{5}$/;

/**
 * Containers of this state directory whose run has ended. One of a run that counts as running is left alone also when
 * the run's process is dead: recovery asks it for its work first.
 */
export async function surveyContainers(services: HouseServices): Promise<Survey> {
  const items: HouseItem[] = [];
  const problems: string[] = [];
  for (const engine of services.engines) {
    const listed = await engine.list(stateId(services.env.stateDir));
    if (!listed.ok) problems.push(listed.error.message);
    for (const { name, runId } of listed.ok ? listed.value : []) {
      if (!RUN_ID.test(runId) || (await isAlive(services, runId))) continue;
      items.push({
        kind: "container",
        what: name,
        run: runId,
        repository: services.history.run(runId)?.topLevel ?? null,
        why: "its run has ended",
        size: null,
        when: "any-time",
        remove: async () => {
          if (await isAlive(services, runId)) return ok("kept");
          const removed = await engine.remove(name);
          return removed.ok ? ok("removed") : removed;
        },
      });
    }
  }
  return { items, kept: [], problems };
}

/** One that the history does not know may be recovery's to take up again. */
async function isAlive({ env, history }: HouseServices, runId: string): Promise<boolean> {
  const run = history.run(runId);
  if (run === undefined || run.state === "running") return true;
  return isHeld(runPaths(env.stateDir, runId).busy, env.hostname);
}
