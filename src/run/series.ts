import { type Failure, fail } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { RunSpec } from "../core/run-spec.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import { ownerOf } from "../process/owner.ts";
import { blocks } from "../policy/finding.ts";
import { type Stop, record } from "./drive.ts";
import { type FinishedRun, runFlow } from "./flow.ts";
import { whileBusy } from "./afterwards/busy.ts";
import { runPaths } from "./paths.ts";
import { runCreated } from "./run-created.ts";
import { readPlan } from "./choice/plan.ts";
import { type Invocation, type RunChoice, makeSpec, offerTasks } from "./choice/prepare.ts";
import type { RunServices } from "./services.ts";

/** One run of a series, as it ended. */
export interface SeriesRun {
  readonly runId: string;
  readonly result: Result<FinishedRun, Stop>;
}

export interface SeriesEnd {
  readonly runs: readonly SeriesRun[];
  /** Why the series ended, one sentence for people. */
  readonly why: string;
  /** The first failure, which the series exits with, and the run it belongs to. */
  readonly failure: { readonly runId: string; readonly failure: Failure } | undefined;
}

/** What a series needs besides the invocation; `paths` and the adapter are added for each run. */
export type SeriesServices = Omit<RunServices, "paths">;

export interface SeriesHooks {
  /** Called after each run that ended `ready`; used by `--promote auto`. */
  readonly onReady: (run: FinishedRun) => Promise<Result<void, Failure>>;
}

/** Takes up to `maxTasks` tasks, one run after another, each with a lease of its own. */
export async function runSeries(
  services: SeriesServices,
  invocation: Invocation,
  hooks: SeriesHooks,
): Promise<Result<SeriesEnd, Failure>> {
  const { maxTasks } = invocation.settings.run;
  const runs: SeriesRun[] = [];
  let failure: SeriesEnd["failure"];
  let stack: StackTop = { base: invocation.head.commit, parentRun: null };
  for (let turn = 0; turn < maxTasks; turn += 1) {
    if (turn === 0) warnOfOpenRuns(services, invocation);
    const spec = await nextSpec(services, invocation, stack);
    // Without a task at the start nothing was created; later it is the natural end of the plan.
    if (!spec.ok) return turn === 0 ? spec : ok({ runs, failure, why: endOfPlan(spec.error) });
    const taken = await takeTurn(services, invocation, { spec: spec.value, hooks, stack });
    runs.push(taken.run);
    if (taken.failure !== undefined) failure ??= { runId: taken.run.runId, failure: taken.failure };
    stack = taken.stack;
    if (taken.stop !== undefined) return ok({ runs, failure, why: taken.stop });
  }
  const why = maxTasks === 1 ? "One task was asked for." : `${maxTasks} tasks were asked for.`;
  return ok({ runs, failure, why });
}

/** What the next run of a stack builds on. */
interface StackTop {
  readonly base: string;
  readonly parentRun: string | null;
}

interface Turn {
  readonly run: SeriesRun;
  readonly failure: Failure | undefined;
  /** Why the series ends after this run; undefined when it goes on. */
  readonly stop: string | undefined;
  readonly stack: StackTop;
}

async function takeTurn(
  services: SeriesServices,
  invocation: Invocation,
  at: { readonly spec: RunSpec; readonly hooks: SeriesHooks; readonly stack: StackTop },
): Promise<Turn> {
  const { run: rules } = invocation.settings;
  const result = await oneRun(services, at.spec);
  const outcome = await outcomeOf(result, at.hooks);
  const stacked = result.ok && rules.mode === "stacked";
  return {
    run: { runId: at.spec.runId, result },
    failure: outcome.ok ? undefined : outcome.error,
    stop: services.signal.aborted ? "Interrupted." : whyStop(result, outcome, rules.onFailure),
    stack: stacked ? nextBase(result.value, at.stack) : at.stack,
  };
}

/** What counts as the run's success for the series: it ended ready, its validation passed, and it could land. */
async function outcomeOf(
  result: Result<FinishedRun, Stop>,
  hooks: SeriesHooks,
): Promise<Result<void, Failure>> {
  if (!result.ok) return err(result.error.failure);
  const { validation, runId, spec } = result.value;
  if (validation === null && spec.validate.length > 0)
    return fail("validation-failed", `The result of run ${runId} could not be validated.`, {
      cure: `Run \`guardloop validate ${runId}\`.`,
    });
  if (validation?.verdict !== "failed") return hooks.onReady(result.value);
  const bad = validation.results.filter(
    (one) => one.outcome !== "passed" && one.outcome !== "not-run",
  );
  return fail(
    "validation-failed",
    `The result of run ${runId} did not pass: ${bad.map((one) => `${one.name} ${one.outcome}`).join(", ")}.`,
  );
}

async function nextSpec(
  services: SeriesServices,
  invocation: Invocation,
  stack: StackTop,
): Promise<Result<RunSpec, Failure>> {
  const choice = await choose(services, invocation, stack);
  return choice.ok ? makeSpec(invocation, choice.value) : choice;
}

async function choose(
  services: SeriesServices,
  invocation: Invocation,
  stack: StackTop,
): Promise<Result<RunChoice, Failure>> {
  const plan = await readPlan(invocation.principal.git, stack.base, invocation.settings.plan);
  if (!plan.ok) return plan;
  const excluded =
    invocation.settings.run.mode === "independent" ? openTasks(services, invocation) : new Map();
  const offered = offerTasks(plan.value, excluded);
  return offered.ok ? ok({ ...stack, offered: offered.value }) : offered;
}

/** Independent runs all start from the principal HEAD, so a task with an open run would be done again. */
function openTasks(services: SeriesServices, invocation: Invocation): ReadonlyMap<string, string> {
  return new Map(
    services.history
      .runsInState(["ready", "running"], invocation.principal.repositoryId)
      .filter((run) => run.task !== null)
      .map((run) => [run.task ?? "", `has the open run ${run.id}`]),
  );
}

/** A stack of this invocation begins at the checkout again, so what waits for a decision may be done twice. */
function warnOfOpenRuns(services: SeriesServices, invocation: Invocation): void {
  if (invocation.settings.run.mode === "independent") return;
  for (const [task, why] of openTasks(services, invocation))
    services.report({
      type: "notice",
      runId: null,
      text: `${task} ${why} already and may be chosen again: promote or discard that run, or pass --independent.`,
    });
}

/** Holds the run's lock meanwhile: with it, a recovery that has no history knows that the run is alive. */
async function oneRun(services: SeriesServices, spec: RunSpec): Promise<Result<FinishedRun, Stop>> {
  const run: RunServices = { ...services, paths: runPaths(services.env.stateDir, spec.runId) };
  await ensurePrivateDirectory(run.paths.root);
  const held = await whileBusy(run, spec.runId, async () => {
    record(run, spec.runId, runCreated(spec, ownerOf(process.pid, services.env.hostname)));
    return ok(await runFlow(run, spec));
  });
  return held.ok ? held.value : err({ stage: "spec", failure: held.error });
}

function whyStop(
  result: Result<FinishedRun, Stop>,
  outcome: Result<void, Failure>,
  onFailure: "stop" | "keep-going",
): string | undefined {
  if (onFailure === "keep-going") return undefined;
  if (!result.ok) return "A run failed; pass --keep-going to go on after a failure.";
  if (!outcome.ok)
    return `${outcome.error.code === "validation-failed" ? "A result failed its validation" : "A run could not be promoted"}; pass --keep-going to go on.`;
  if (result.value.reviewed?.progress === "none")
    return "The run made no progress: its task is still runnable in the plan. Pass --keep-going to go on.";
  return undefined;
}

/** A branch with a blocking finding or a failed validation is not built upon. */
function nextBase(run: FinishedRun, stack: StackTop): StackTop {
  if (run.reviewed === undefined || blocks(run.reviewed.findings).length > 0) return stack;
  const { validation } = run;
  const mustPass = run.spec.validate.length > 0 || validation !== null;
  if (mustPass && validation?.verdict !== "passed") return stack;
  return { base: run.imported.head, parentRun: run.runId };
}

function endOfPlan(failure: Failure): string {
  return `The plan is worked off: ${failure.message}`;
}
