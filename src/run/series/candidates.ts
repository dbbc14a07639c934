import type { Failure } from "../../core/failures.ts";
import { newRunId } from "../../core/ids.ts";
import { type Result, ok } from "../../core/result.ts";
import type { OfferedTask } from "../../core/run-spec.ts";
import type { RunSummary } from "../../core/run-record.ts";
import { livingClaims } from "../choice/claims.ts";
import { offerTasks } from "../choice/offer.ts";
import { readPlan } from "../choice/plan.ts";
import type { Invocation } from "../choice/prepare.ts";
import { givenUp } from "../choice/track-record.ts";
import type { Course } from "./course.ts";
import type { SeriesServices } from "./series.ts";
import type { StackTop } from "./stack.ts";

/** What a run may be given to do, in order; who may have it is settled when the run is created. */
export interface Candidates extends StackTop {
  readonly tasks: readonly OfferedTask[];
  /** Of the plan at the base. */
  readonly planHash: string;
  /** `one`: the host assigns the first that is free. `all`: the agent chooses among those that are free. */
  readonly give: "one" | "all";
  /** Of attempts: what they have in common. */
  readonly group?: string;
}

/** What the plan offers at the base of the next run, without what is not to be run or is claimed already. */
export async function nextTasks(
  services: SeriesServices,
  invocation: Invocation,
  course: Pick<Course, "stack" | "tried">,
): Promise<Result<Candidates, Failure>> {
  const stack = course.stack();
  const plan = await readPlan(invocation.principal.git, stack.base, invocation.settings.plan);
  if (!plan.ok) return plan;
  const { kind } = invocation.shape;
  const runs = services.history.runs(invocation.principal.repositoryId);
  const open = kind === "independent" ? waiting(runs) : new Map<string, string>();
  const unwanted = [...givenUp(runs, invocation.settings.run.giveUpAfter)]
    // A person who names a task has decided to try it again.
    .filter(([id]) => !invocation.wanted.includes(id));
  const excluded = new Map([...unwanted, ...open, ...course.tried()]);
  const offered = offerTasks(plan.value, {
    wanted: invocation.wanted,
    excluded,
    claimed: livingClaims(services.history, claimsOf(services, invocation)),
  });
  if (!offered.ok) return offered;
  const give = kind === "stacked" ? "all" : "one";
  return ok({ ...stack, tasks: offered.value, give, planHash: plan.value.hash });
}

/** Every attempt has the same task on the same base: the first that can be run, or the one that was named. */
export async function attemptsAt(
  services: SeriesServices,
  invocation: Invocation,
): Promise<Result<() => Promise<Result<Candidates, Failure>>, Failure>> {
  const first = await nextTasks(services, invocation, {
    stack: () => ({ base: invocation.head.commit, parentRun: null }),
    tried: () => new Map(),
  });
  if (!first.ok) return first;
  const group = newRunId(invocation.now());
  const candidates = ok({ ...first.value, tasks: first.value.tasks.slice(0, 1), group });
  return ok(async () => candidates);
}

export function claimsOf({ env }: Pick<SeriesServices, "env">, { principal }: Invocation) {
  return { repositoryId: principal.repositoryId, host: env.hostname };
}

/** Independent runs all start from the principal HEAD, so a task whose result waits for a decision would be done again. */
function waiting(runs: readonly RunSummary[]): ReadonlyMap<string, string> {
  return new Map(
    runs
      .filter((run) => run.task !== null && run.state === "ready")
      .map((run) => [run.task ?? "", `has the open run ${run.id}`]),
  );
}

/** A stack of this invocation begins at the checkout again, so what waits for a decision may be done twice. */
export function warnOfOpenRuns(
  services: SeriesServices,
  { principal }: Invocation,
  offered: readonly OfferedTask[],
): void {
  const runs = services.history.runs(principal.repositoryId);
  for (const [task, why] of waiting(runs))
    if (offered.some((one) => one.id === task))
      services.report({
        type: "notice",
        runId: null,
        text: `${task} ${why} already and may be chosen again: promote or discard that run, or pass --independent.`,
      });
}
