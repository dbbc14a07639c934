import type { RunEvent } from "../core/events.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { StageName } from "../core/stage-name.ts";
import type { RunServices } from "./services.ts";
import type { Stage } from "./stage.ts";

/** Why a run ended early, and where. */
export interface Stop {
  readonly stage: StageName;
  readonly failure: Failure;
}

/** Appends an event to the journal and tells whoever watches. */
export function record(services: RunServices, runId: string, event: RunEvent): void {
  const stored = services.history.append(runId, event);
  services.report({ type: "event", stored });
}

/**
 * Takes one stage: intent to the journal, perform, outcome to the journal. A stage that failed is undone.
 *
 * @returns the input with the stage's output merged in: the next stage's input.
 */
export async function step<In, Out extends object, Full extends In & { readonly runId: string }>(
  services: RunServices,
  stage: Stage<In, Out>,
  input: Full,
): Promise<Result<Full & Out, Stop>> {
  record(services, input.runId, { type: "stage-intent", stage: stage.name });
  const performed = await stage.perform(services, input);
  if (!performed.ok) {
    record(services, input.runId, {
      type: "stage-failed",
      stage: stage.name,
      code: performed.error.code,
    });
    const undone = await stage.undo(services, input);
    if (undone.ok) record(services, input.runId, { type: "stage-undone", stage: stage.name });
    return { ok: false, error: { stage: stage.name, failure: performed.error } };
  }
  record(services, input.runId, {
    type: "stage-done",
    stage: stage.name,
    output: performed.value,
  });
  return ok({ ...input, ...performed.value });
}
