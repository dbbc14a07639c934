import type { RunEvent, StoredEvent } from "../core/events.ts";
import type { Failure, FailureCode } from "../core/failures.ts";
import { hostFault, withHostFault } from "../core/host-fault.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { StageName } from "../core/stage-name.ts";
import type { RunServices } from "./services.ts";
import type { Stage } from "./stage.ts";

/** Why a run ended early, and where. */
export interface Stop {
  readonly stage: StageName;
  readonly failure: Failure;
}

/**
 * The journal refused an event. Nothing may happen that is not written down, so the run stops where it is, like one that
 * was killed there; `recover` goes on from that point.
 */
export class JournalFault extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Appends an event to the journal and tells whoever watches.
 *
 * @throws {JournalFault} where the disk is full, say, or the history is gone.
 */
export function record(services: RunServices, runId: string, event: RunEvent): void {
  let stored: StoredEvent;
  try {
    stored = services.history.append(runId, event);
  } catch (error) {
    const fault = hostFault(error);
    throw fault === undefined ? error : new JournalFault(fault);
  }
  services.report({ type: "event", stored });
}

/**
 * Takes one stage: intent to the journal, perform, outcome to the journal. A stage that failed is undone, and so is one
 * in which the machine refused a write.
 *
 * @returns the input with the stage's output merged in: the next stage's input.
 */
export async function step<In, Out extends object, Full extends In & { readonly runId: string }>(
  services: RunServices,
  stage: Stage<In, Out>,
  input: Full,
): Promise<Result<Full & Out, Stop>> {
  record(services, input.runId, { type: "stage-intent", stage: stage.name });
  const performed = await attempt(() => stage.perform(services, input));
  if (!performed.ok) {
    const failure = withHostFault(performed.error);
    await failed(services, stage, { input, code: failure.code });
    return { ok: false, error: { stage: stage.name, failure } };
  }
  record(services, input.runId, {
    type: "stage-done",
    stage: stage.name,
    output: performed.value,
  });
  return ok({ ...input, ...performed.value });
}

/** Where not even the failure can be written down, undoing the stage may free the space for it. */
async function failed<In>(
  services: RunServices,
  stage: Stage<In, object>,
  at: { readonly input: In & { readonly runId: string }; readonly code: FailureCode },
): Promise<void> {
  const { runId } = at.input;
  const event = { type: "stage-failed", stage: stage.name, code: at.code } as const;
  const written = tryRecord(services, runId, event);
  const undone = await attempt(() => stage.undo(services, at.input));
  if (written === "refused") record(services, runId, event);
  if (undone.ok) record(services, runId, { type: "stage-undone", stage: stage.name });
}

function tryRecord(services: RunServices, runId: string, event: RunEvent): "written" | "refused" {
  try {
    record(services, runId, event);
    return "written";
  } catch (error) {
    if (error instanceof JournalFault) return "refused";
    throw error;
  }
}

/** What the machine refuses is a failure like any other; what is thrown besides is a mistake of ours. */
export async function attempt<T>(
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  try {
    return await act();
  } catch (error) {
    const fault = error instanceof JournalFault ? undefined : hostFault(error);
    if (fault === undefined) throw error;
    return err(fault);
  }
}
