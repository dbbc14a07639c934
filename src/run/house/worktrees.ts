import { ok } from "../../core/result.ts";
import type { FreeWorktree, PoolTidy } from "../../lease/builtin/tidy.ts";
import type { HouseItem, Survey, Thing } from "./item.ts";
import { tidyOf } from "./pool.ts";
import {
  type HouseRepository,
  type HouseServices,
  type Retention,
  isPast,
  sizeOf,
} from "./services.ts";
import { throwAway } from "./trash.ts";

/** Free worktrees of the built-in pool that were not used for long, or are more than are to be kept. */
export async function surveyWorktrees(
  services: HouseServices,
  { principal, retention }: HouseRepository,
): Promise<Survey> {
  const tidy = tidyOf(services.env, principal);
  const items: HouseItem[] = [];
  const kept: Thing[] = [];
  for (const [index, worktree] of (await tidy.free()).entries()) {
    const why = whyOld(worktree, index, { retention, now: services.now() });
    if (why === undefined) continue;
    const { path } = worktree;
    const worth = await tidy.worth(path);
    const thing = {
      kind: "worktree",
      what: path,
      run: null,
      repository: principal.topLevel,
    } as const;
    if (worth !== undefined) kept.push({ ...thing, why: worth });
    else items.push({ ...thing, why, size: await sizeOf(path), ...removal(services, tidy, path) });
  }
  return { items, kept, problems: [] };
}

function removal(services: HouseServices, tidy: PoolTidy, path: string) {
  return {
    when: "any-time" as const,
    remove: async () =>
      ok(await tidy.remove(path, (away) => throwAway(services.env.stateDir, away))),
  };
}

/** Undefined for one that is young enough, and among those that are kept. */
function whyOld(
  { usedMs }: FreeWorktree,
  index: number,
  { retention, now }: { readonly retention: Retention; readonly now: Date },
): string | undefined {
  const used = Number.isNaN(usedMs) ? "" : new Date(usedMs).toISOString().slice(0, 10);
  if (isPast(usedMs, retention.poolDays, now)) return `no run has used it since ${used}`;
  if (index < retention.poolWorktrees) return undefined;
  const others = retention.poolWorktrees;
  return `${others} free ${others === 1 ? "worktree is" : "worktrees are"} kept, and this one was used before them`;
}
