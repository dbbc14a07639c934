import type { Failure } from "../core/failures.ts";
import type { StageName } from "../core/stage-name.ts";
import type { RunSpec } from "../core/run-spec.ts";
import { type Result, err, ok } from "../core/result.ts";
import { JournalFault, type Stop, record, step } from "./drive.ts";
import { redactorInUse } from "./logs/redactions-in-use.ts";
import type { Redactor } from "./logs/redactor.ts";
import { salvage } from "./afterwards/salvage.ts";
import type { RunServices } from "./services.ts";
import { readStopRequest, stoppedBy } from "./stop-request.ts";
import { type AgentRan, agentStage, removeContainers } from "./stages/agent.ts";
import { type Collected, collectStage } from "./stages/collect.ts";
import { type Imported, importStage } from "./stages/import.ts";
import { type Leased, leaseStage } from "./stages/lease.ts";
import { releaseStage } from "./stages/release.ts";
import { type SetUp, setupStage } from "./stages/setup.ts";
import { type Reviewed, judge, reviewStageAfter } from "./stages/review.ts";
import { type Validated, validateStage } from "./stages/validate.ts";
import { type Snapshotted, snapshotStage } from "./stages/snapshot.ts";
import { type Specified, specStage } from "./stages/spec.ts";

export interface Started {
  readonly runId: string;
  readonly spec: RunSpec;
}

/** What `collect` and everything after it build on. */
export type UpToImport = Started &
  Specified &
  Leased &
  SetUp &
  Snapshotted &
  AgentRan &
  Collected &
  Imported;

/** A run that ended well, with what its reviewer will see. */
export type FinishedRun = UpToImport & Validated & Partial<Reviewed>;

/**
 * One guarded run, from a frozen spec to an agent branch or a recorded failure.
 *
 * Whatever happens between lease and import, what the agent did is salvaged and the lease is returned.
 */
export function runFlow(services: RunServices, spec: RunSpec): Promise<Result<FinishedRun, Stop>> {
  return orCutShort(services, spec, () => flow(services, spec));
}

/** Ends in a failure, and not in an exception, what a journal that cannot be written ends. */
export async function orCutShort<T>(
  services: RunServices,
  spec: RunSpec,
  work: () => Promise<Result<T, Stop>>,
): Promise<Result<T, Stop>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof JournalFault)) throw error;
    return cutShort(services, spec, error.failure);
  }
}

/**
 * The journal cannot be written, so the run is left as a kill would leave it, but for its containers: an agent that
 * nobody watches must not work on. Everything else is `recover`'s, once there is a journal again.
 */
async function cutShort(
  services: RunServices,
  { runId }: RunSpec,
  failure: Failure,
): Promise<Result<never, Stop>> {
  await removeContainers(services, runId);
  const last = services.history.run(runId)?.stages.at(-1)?.stage ?? "spec";
  const message = `The run stopped in the stage ${last}, because its journal cannot be written. ${failure.message}`;
  return err({ stage: last, failure: { ...failure, message } });
}

async function flow(given: RunServices, spec: RunSpec): Promise<Result<FinishedRun, Stop>> {
  const { gateway } = spec;
  const credential = gateway === undefined ? null : given.gateway?.credentialOf(gateway);
  const holding: RunServices = { ...given, credential: credential ?? undefined };
  const started: Started = { runId: spec.runId, spec };
  // In a large repository looking for `.env` files takes as long as the lease does, and no container has said anything yet.
  const [leased, redactor] = await Promise.all([
    upToLease(holding, started),
    redactorInUse(holding, spec),
  ]);
  // A file that a rule lets in can have come since.
  const envFilesAtStart = spec.overlay.include.length === 0 ? holding.envFilesAtStart : undefined;
  const services = reportingWithout(redactor, { ...holding, envFilesAtStart });
  const imported = leased.ok ? await upToImport(services, leased.value) : leased;
  return endFlow(services, started, cleaned(redactor, imported));
}

/**
 * What follows on the import, or on the failure before it: salvage, the return of the lease, validation, review, and the
 * run's last event.
 */
export async function endFlow<Run extends Started & AgentRan & Collected & Imported>(
  services: RunServices,
  started: Started,
  imported: Result<Run, Stop>,
): Promise<Result<Run & Validated & Partial<Reviewed>, Stop>> {
  const { spec } = started;
  if (!imported.ok && imported.error.stage !== "spec" && imported.error.stage !== "lease")
    await salvage(services, spec);
  const early = imported.ok ? judgedEarly(services, imported.value) : undefined;
  const released = await step(services, releaseStage, started);
  if (!imported.ok) return finish(services, started, imported.error);
  const validated = await step(services, validateStage, imported.value);
  const reviewed = await step(services, reviewStageAfter(early), imported.value);
  record(services, spec.runId, {
    type: "run-ready",
    branch: imported.value.imported.branch,
    head: imported.value.imported.head,
  });
  // The branch stands; a lease that could not be returned is said, and `recover` tries again.
  if (!released.ok) notice(services, spec.runId, released.error);
  if (!validated.ok) notice(services, spec.runId, validated.error);
  if (!reviewed.ok) notice(services, spec.runId, reviewed.error);
  const validation = validated.ok ? validated.value.validation : null;
  return ok({ ...(reviewed.ok ? reviewed.value : imported.value), validation });
}

/**
 * What the review says, asked while the lease is returned: it only reads. Where commands validate the work first, that
 * can take long, and the review sees what is so after it.
 */
function judgedEarly(
  services: RunServices,
  run: Started & AgentRan & Collected & Imported,
): ReturnType<typeof judge> | undefined {
  if (run.spec.validate.length > 0) return undefined;
  const judged = judge(services, run);
  // What it throws is met by the stage, which may never come where the journal cannot be written.
  judged.catch(() => undefined);
  return judged;
}

type UpToLease = Started & Specified & Leased;

/** The part of the flow that depends on the stage before stops at the first failure. This is its beginning. */
async function upToLease(
  services: RunServices,
  started: Started,
): Promise<Result<UpToLease, Stop>> {
  const specified = await step(services, specStage, started);
  if (!specified.ok) return specified;
  return guarded(services, "lease", () => step(services, leaseStage, specified.value));
}

/** And this what containers take part in. */
async function upToImport(
  services: RunServices,
  leased: UpToLease,
): Promise<Result<UpToImport, Stop>> {
  const ready = await setUp(services, leased);
  if (!ready.ok) return ready;
  const taken = await guarded(services, "snapshot", () =>
    step(services, snapshotStage, ready.value),
  );
  if (!taken.ok) return taken;
  const ran = await guarded(services, "agent", () => step(services, agentStage, taken.value));
  if (!ran.ok) return ran;
  const collected = await step(services, collectStage, ran.value);
  if (!collected.ok) return collected;
  return step(services, importStage, collected.value);
}

/** A run without setup commands has no such stage in its journal. */
async function setUp<T extends Started>(
  services: RunServices,
  run: T,
): Promise<Result<T & SetUp, Stop>> {
  if (run.spec.setup === undefined) return ok(run);
  return guarded(services, "setup", () => step(services, setupStage, run));
}

/**
 * Services whose stages share the redactor. What a run tells on its way reaches terminals and the logs of CI, and may
 * quote what came out of a container.
 */
export function reportingWithout(redactor: Redactor, services: RunServices): RunServices {
  return {
    ...services,
    redactor,
    // The recorder of the agent's output has cleaned that itself, as a stream.
    report: (progress) =>
      services.report(progress.type === "agent-output" ? progress : redactor.data(progress)),
  };
}

/** A failure is kept in the journal, and may quote the last words of a container. */
export function cleaned<T>(redactor: Redactor, ended: Result<T, Stop>): Result<T, Stop> {
  if (ended.ok) return ended;
  const { stage, failure } = ended.error;
  const { code, message, cure, details } = failure;
  const clean = redactor.data({ message, cure, details });
  return err({ stage, failure: { code, ...clean } });
}

/** A run that was interrupted between two stages does not begin the next one. */
async function guarded<T>(
  services: RunServices,
  stage: StageName,
  take: () => Promise<Result<T, Stop>>,
): Promise<Result<T, Stop>> {
  if (!services.signal.aborted) return take();
  return err({
    stage,
    failure: {
      code: "interrupted",
      message: `The run was interrupted before the stage ${stage}.`,
      cure: "Run `guardloop run` again.",
      details: [],
    },
  });
}

async function finish(
  services: RunServices,
  started: Started,
  stop: Stop,
): Promise<Result<never, Stop>> {
  const { stage } = stop;
  const named = await withStopper(services, stop);
  const failure = withSalvage(services, started.runId, named);
  if (failure.code === "interrupted")
    record(services, started.runId, { type: "run-interrupted", stage, message: failure.message });
  else record(services, started.runId, { type: "run-failed", stage, ...failure });
  return err({ stage, failure });
}

/** A run that was interrupted from another terminal says by whom. */
async function withStopper(services: RunServices, { stage, failure }: Stop): Promise<Failure> {
  if (failure.code !== "interrupted") return failure;
  const request = await readStopRequest(services.paths);
  if (request === undefined) return failure;
  const interrupted = "The run was interrupted";
  const message = failure.message.startsWith(interrupted)
    ? failure.message.replace(interrupted, () => stoppedBy(request))
    : `${stoppedBy(request)}, in the stage ${stage}.`;
  return { ...failure, message };
}

/** Work that was saved is part of what to do next. */
function withSalvage(services: RunServices, runId: string, failure: Failure): Failure {
  if ((services.history.run(runId)?.salvagedPatches ?? 0) === 0) return failure;
  const kept = "What was done is kept: `guardloop salvage RUN --task ID --message TEXT`.";
  return { ...failure, cure: `${failure.cure} ${kept}` };
}

function notice(services: RunServices, runId: string, stop: Stop): void {
  services.report({
    type: "notice",
    runId,
    text: `${stop.failure.message} ${stop.failure.cure}`,
  });
}
