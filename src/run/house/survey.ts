import { surveyContainers } from "./containers.ts";
import { surveyGonePools } from "./gone-repositories.ts";
import { surveyImages } from "./images.ts";
import { type Survey, together } from "./item.ts";
import { surveyGoneLayers, surveyLayers } from "./layers.ts";
import { surveyLocks } from "./locks.ts";
import { surveyHistories, surveyImageBuilds } from "./old-files.ts";
import { surveyRecords } from "./records.ts";
import { surveyBranches, surveyRefs } from "./refs.ts";
import type { HouseServices } from "./services.ts";
import { surveySetups } from "./setups.ts";
import { surveySnapshots } from "./snapshots.ts";
import { surveyTrash } from "./trash.ts";
import { surveyWorktrees } from "./worktrees.ts";

/**
 * Everything that may go, and what is old and stays. Changes nothing. What belongs to one of the given repositories is
 * looked at, and what belongs to none.
 *
 * @param wanted `any-time`: not what only a person may remove, however long it would take to measure.
 * @param signal when it is aborted, the rest is not looked at.
 */
export async function survey(
  services: HouseServices,
  signal: AbortSignal,
  wanted: "all" | "any-time",
): Promise<Survey> {
  const ids = new Set(services.repositories.map(({ principal }) => principal.repositoryId));
  const looks = [
    () => surveyTrash(services),
    () => surveyContainers(services),
    () => surveySnapshots(services, (run) => ids.has(run.repositoryId)),
    () => surveyImageBuilds(services),
    () => surveyImages(services),
    ...(wanted === "all" ? [() => surveyGonePools(services)] : []),
    ...services.repositories.flatMap((repository) => [
      () => surveySetups(services, repository),
      () => surveyLayers(services, repository),
      () => surveyWorktrees(services, repository),
      () => surveyBranches(services, repository),
      () => surveyRefs(services, repository),
      () => surveyRecords(services, repository),
    ]),
    () => surveyGoneLayers(services),
    () => surveyHistories(services),
    () => surveyLocks(services),
  ];
  const surveys: Survey[] = [];
  for (const look of looks) if (!signal.aborted) surveys.push(await look());
  return together(surveys);
}
