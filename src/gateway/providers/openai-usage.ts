import { countOf, isObject, objectOf, textOf } from "./json.ts";
import type { SeenUsage, UsageReader } from "./provider.ts";

const LAST_EVENTS = new Set(["response.completed", "response.incomplete", "response.failed"]);

/**
 * Responses says it in the response, which a stream has in its last event; Chat Completions in the answer, or in the
 * chunk before `[DONE]`. Some servers count up in every chunk, so the last one counts.
 */
export function openaiUsage(): UsageReader {
  let seen: SeenUsage | undefined;
  return {
    add(json: unknown): void {
      const event = objectOf(json);
      const response = isObject(event["response"]) ? event["response"] : event;
      const usage = response["usage"];
      if (!isObject(usage)) return;
      const final = LAST_EVENTS.has(textOf(event["type"]) ?? "") || !isChunk(event);
      seen = fromUsage(usage, final) ?? seen;
    },
    seen: () => seen,
  };
}

/** Of a Chat Completions stream; one with choices may be followed by another. */
function isChunk(event: Readonly<Record<string, unknown>>): boolean {
  const choices = event["choices"];
  return (
    event["object"] === "chat.completion.chunk" && Array.isArray(choices) && choices.length > 0
  );
}

function fromUsage(
  usage: Readonly<Record<string, unknown>>,
  final: boolean,
): SeenUsage | undefined {
  const input = countOf(usage["input_tokens"]) ?? countOf(usage["prompt_tokens"]);
  const output = countOf(usage["output_tokens"]) ?? countOf(usage["completion_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const details = objectOf(usage["input_tokens_details"] ?? usage["prompt_tokens_details"]);
  const cachedInput = countOf(details["cached_tokens"]) ?? 0;
  return { input: input ?? 0, cachedInput, output: output ?? 0, final };
}
