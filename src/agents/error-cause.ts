import type { AgentEvent } from "./port.ts";

type Cause = NonNullable<Extract<AgentEvent, { type: "error" }>["cause"]>;

/** What an HTTP status of a model API says for sure; 529 is Anthropic's word for being overloaded. */
export function causeOfStatus(status: unknown): Cause | undefined {
  switch (Number(status)) {
    case 401:
    case 403:
      return "authentication";
    case 429:
    case 503:
    case 529:
      return "rate-limit";
    default:
      return undefined;
  }
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
