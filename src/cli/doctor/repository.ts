import type { Settings } from "../../config/settings.ts";
import type { Principal } from "../../git/principal.ts";
import { offerTasks } from "../../run/choice/offer.ts";
import { checkPrincipal } from "../../run/choice/prepare.ts";
import { readPlan } from "../../run/choice/plan.ts";
import { type Check, verdictOf } from "./check.ts";

/** Tasks of the plan that are named. */
const SHOWN = 5;

export async function repositoryChecks(
  principal: Principal,
  settings: Settings,
): Promise<readonly Check[]> {
  const head = await checkPrincipal(principal);
  const repository = verdictOf(
    "repository",
    head,
    (value) => `${principal.topLevel}, on ${value.branch}, clean`,
  );
  if (!head.ok) return [repository];
  const plan = await readPlan(principal.git, head.value.commit, settings.plan);
  const offered = plan.ok ? offerTasks(plan.value) : plan;
  return [
    repository,
    verdictOf("plan", offered, (tasks) => {
      const names = tasks.slice(0, SHOWN).map((task) => task.id);
      return `${tasks.length} runnable: ${names.join(", ")}`;
    }),
  ];
}
