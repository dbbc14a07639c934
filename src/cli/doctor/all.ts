import { type Result, ok } from "../../core/result.ts";
import type { Failure } from "../../core/failures.ts";
import type { Principal } from "../../git/principal.ts";
import { principalOf } from "../context.ts";
import type { Call } from "../define.ts";
import { recoverRepository } from "../recover-repository.ts";
import { settingsHere } from "../settings.ts";
import { settingFlags } from "../setting-options.ts";
import { agentChecks } from "./agents.ts";
import { type Check, type Mend, good, problem, warning } from "./check.ts";
import { clockChecks } from "./clock.ts";
import { diskCheck } from "./disk.ts";
import { historyChecks } from "./history.ts";
import { leaseChecks } from "./leases.ts";
import { repositoryChecks } from "./repository.ts";
import { stateDirectoryChecks } from "./state.ts";
import { agentCheck, engineChecks, gitCheck, nodeCheck } from "./tools.ts";

/** Looks at everything that a run needs, in the order in which a person would mend it. Changes nothing. */
export async function allChecks(call: Call): Promise<readonly Check[]> {
  const { context } = call;
  const principal = await principalOf(context);
  const resolved = await settingsHere(context, settingFlags(call));
  const checks: Check[] = [nodeCheck(), await gitCheck(context)];
  const { state, checks: ofDirectory } = await stateDirectoryChecks(context);
  if (!resolved.ok) return [...checks, problem("settings", resolved.error), ...ofDirectory];
  const { settings, notices } = resolved.value;
  checks.push(good("settings", "understood"));
  checks.push(...notices.map((text) => warning("settings", text, null)));
  checks.push(agentCheck(settings), ...ofDirectory);
  // Everything below looks into the state directory, or would make it.
  if (state === "unusable") return checks;
  const { checks: ofEngine, tools } = await engineChecks(context, settings, state);
  checks.push(...ofEngine, ...(await agentChecks(context, resolved.value, tools)));
  const here = principal.ok ? principal.value : undefined;
  const { containers } = settings.recovery;
  const recovery = here === undefined ? undefined : recoveryOf(call, here, containers);
  const around = { recovery, repositoryId: here?.repositoryId };
  const { checks: ofHistory, runs } = await historyChecks(context, around);
  if (!principal.ok) checks.push(problem("repository", principal.error));
  else {
    checks.push(...(await repositoryChecks(principal.value, settings)));
    checks.push(await diskCheck(context, principal.value, settings));
  }
  if (here !== undefined && recovery !== undefined)
    checks.push(...(await leaseChecks(context, { principal: here, settings, recovery })));
  checks.push(...ofHistory.filter((check) => state === "usable" || check.verdict !== "ok"));
  checks.push(...(await clockChecks(context.now(), here, runs)));
  return checks;
}

/** One and the same for everything that recovery mends, so that it is done once. */
function recoveryOf(call: Call, principal: Principal, orphans: "stop" | "adopt"): Mend {
  return {
    will: "do what `guardloop recover` does",
    async act(): Promise<Result<readonly string[], Failure>> {
      const done = await recoverRepository(call, principal, orphans);
      if (!done.ok) return done;
      const { actions, problems } = done.value;
      return ok([...actions, ...problems.map((text) => `Not done: ${text}`)]);
    },
  };
}
