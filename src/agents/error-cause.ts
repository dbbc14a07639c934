import { isLimitStatus, isRefusedCredential } from "../core/egress-totals.ts";
import type { AgentEvent } from "./port.ts";

type Cause = NonNullable<Extract<AgentEvent, { type: "error" }>["cause"]>;

/** What an HTTP status of a model API says for sure. */
export function causeOfStatus(status: unknown): Cause | undefined {
  if (isRefusedCredential(Number(status))) return "authentication";
  return isLimitStatus(Number(status)) ? "rate-limit" : undefined;
}

/** An error event, with a cause where there is one. */
export function errorEvent(text: string, cause: Cause | undefined): AgentEvent {
  return cause === undefined ? { type: "error", text } : { type: "error", text, cause };
}

/**
 * The status that a program quotes in words, for programs that tell it in no other way.
 *
 * @param pattern with the three digits as its first group.
 */
export function causeInWords(text: string, pattern: RegExp): Cause | undefined {
  return causeOfStatus(pattern.exec(text)?.[1]);
}

/** Parsers of programs that repeat what went wrong: with every new attempt, with the last message, with the result. */
export interface SaysErrorsAgain {
  lastError: string | undefined;
}

/** An error event, unless it is the one that was told last. */
export function errorOnce(
  text: string,
  state: SaysErrorsAgain,
  cause: Cause | undefined,
): readonly AgentEvent[] {
  if (text === state.lastError) return [];
  state.lastError = text;
  return [errorEvent(text, cause)];
}
