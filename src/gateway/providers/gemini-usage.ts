import { countOf, isObject, listOf, objectOf } from "./json.ts";
import type { SeenUsage, UsageReader } from "./provider.ts";

/** Every chunk of a stream counts what there has been so far; the one with a reason to finish is the last. */
export function geminiUsage(): UsageReader {
  let seen: SeenUsage | undefined;
  return {
    add(json: unknown): void {
      // Without `alt=sse` a stream is one JSON list.
      for (const chunk of Array.isArray(json) ? listOf(json) : [json]) {
        const answer = objectOf(chunk);
        const usage = answer["usageMetadata"];
        if (isObject(usage)) seen = fromUsage(usage, finishes(answer));
      }
    },
    seen: () => seen,
  };
}

function fromUsage(usage: Readonly<Record<string, unknown>>, final: boolean): SeenUsage {
  const count = (name: string): number => countOf(usage[name]) ?? 0;
  return {
    input: count("promptTokenCount") + count("toolUsePromptTokenCount"),
    cachedInput: count("cachedContentTokenCount"),
    output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    final,
  };
}

function finishes(answer: Readonly<Record<string, unknown>>): boolean {
  const candidates = listOf(answer["candidates"]);
  return candidates.some((one) => typeof objectOf(one)["finishReason"] === "string");
}
