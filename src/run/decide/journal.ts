import type { DecisionIntent } from "../../core/events.ts";
import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { type DecisionServices, recordDecision } from "./decision.ts";
import { outcomeEvent } from "./settle.ts";

/**
 * Moves the branch with the intent before and the outcome behind it in the journal. A crash in between is settled by
 * asking Git; the intent of a move that was refused is found not to have happened.
 */
export async function journalled(
  services: DecisionServices,
  at: { readonly run: RunRecord; readonly intent: DecisionIntent },
  move: () => Promise<Result<void, Failure>>,
): Promise<Result<void, Failure>> {
  recordDecision(services, at.run, at.intent);
  const moved = await move();
  if (moved.ok) recordDecision(services, at.run, outcomeEvent(at.intent));
  return moved;
}
