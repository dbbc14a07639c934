import { stat } from "node:fs/promises";
import type { Settings } from "../../config/settings.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { FlagValues } from "../../config/text-layer.ts";
import { type Principal, openPrincipal, readHead } from "../../git/principal.ts";
import type { History } from "../../history/port.ts";
import type { HouseRepository, HouseServices, Retention } from "../../run/house/services.ts";
import { type Context, gitProgram, principalOf } from "../context.ts";
import { answeringEngines } from "../engines.ts";
import { settingsFor } from "../settings.ts";

/** Which repositories are looked after: that of the present directory, if it is in one, or every one of this host. */
export type HouseScope = "here" | "all";

export interface House {
  readonly services: HouseServices;
  /** What could not be looked at at all, a sentence each. */
  readonly problems: readonly string[];
}

/** Opens what keeping house works with. Only a configuration that is wrong is a failure; nothing else must stop a clean-up. */
export async function houseServices(
  context: Context,
  history: History,
  { scope, flags }: { readonly scope: HouseScope; readonly flags: FlagValues },
): Promise<Result<House, Failure>> {
  const git = gitProgram(context);
  if (!git.ok) return git;
  const here = await principalOf(context);
  const mine = await settingsOf(context, here.ok ? here.value : undefined, flags);
  if (!mine.ok) return mine;
  const problems: string[] = [];
  const repositories: HouseRepository[] = here.ok
    ? [{ principal: here.value, retention: retentionOf(mine.value) }]
    : [];
  if (scope === "all")
    for (const topLevel of otherRepositories(history, here.ok ? here.value.repositoryId : "")) {
      const other = await openOther(context, { ...topLevel, git: git.value, flags });
      if (typeof other === "string") problems.push(other);
      else if (other !== undefined) repositories.push(other);
    }
  const engines = await answeringEngines(context);
  if (!engines.ok)
    problems.push(`Containers and images were not looked at: ${engines.error.message}`);
  const services: HouseServices = {
    env: context.env,
    gitProgram: git.value,
    history,
    engines: engines.ok ? engines.value : [],
    repositories,
    retention: retentionOf(mine.value),
    image: mine.value.container.image,
    now: context.now,
  };
  return ok({ services, problems });
}

export function retentionOf({ retention }: Settings): Retention {
  const { branchDays, recordDays, setupDays, poolDays, poolWorktrees } = retention;
  return { branchDays, recordDays, setupDays, poolDays, poolWorktrees };
}

/** The repositories that runs of the history belong to, each with where it was last. */
function otherRepositories(history: History, here: string) {
  const found = new Map<string, string>();
  for (const { repositoryId, topLevel } of history.runs())
    if (repositoryId !== here && !found.has(repositoryId)) found.set(repositoryId, topLevel);
  return [...found].map(([repositoryId, topLevel]) => ({ repositoryId, topLevel }));
}

/** A repository that is not where it was is passed; one that cannot be read is a sentence. */
async function openOther(
  context: Context,
  at: {
    readonly repositoryId: string;
    readonly topLevel: string;
    readonly git: string;
    readonly flags: FlagValues;
  },
): Promise<HouseRepository | string | undefined> {
  const { topLevel } = at;
  if ((await stat(topLevel).catch(() => undefined)) === undefined) return undefined;
  const principal = await openPrincipal(at.git, context.env, topLevel);
  if (!principal.ok) return `${topLevel} was not looked at: ${principal.error.message}`;
  if (principal.value.repositoryId !== at.repositoryId) return undefined;
  const settings = await settingsOf(context, principal.value, at.flags);
  if (!settings.ok) return `${topLevel} was not looked at: ${settings.error.message}`;
  return { principal: principal.value, retention: retentionOf(settings.value) };
}

async function settingsOf(
  context: Context,
  principal: Principal | undefined,
  flags: FlagValues,
): Promise<Result<Settings, Failure>> {
  const head = principal === undefined ? undefined : await readHead(principal);
  const at =
    principal !== undefined && head?.ok === true
      ? { principal, commit: head.value.commit }
      : undefined;
  const resolved = await settingsFor(context, at, flags);
  return resolved.ok ? ok(resolved.value.settings) : resolved;
}
