import { countOf, isObject, objectOf } from "./json.ts";
import type { SeenUsage, UsageReader } from "./provider.ts";

/**
 * A JSON answer says it at its top. A stream says what went in with `message_start`, and with `message_delta` how much
 * has come out so far, the last time at its end. `input_tokens` leaves out what was read from or written to a cache.
 */
export function anthropicUsage(): UsageReader {
  const counts: Record<string, number> = {};
  let any = false;
  let final = false;
  return {
    add(json: unknown): void {
      const event = objectOf(json);
      const message = isObject(event["message"]) ? event["message"] : event;
      if (!isObject(message["usage"])) return;
      for (const [name, value] of Object.entries(message["usage"])) {
        const count = countOf(value);
        if (count !== undefined) counts[name] = count;
      }
      any = true;
      const type = event["type"];
      final ||= type === "message" || (type === "message_delta" && endsMessage(event));
    },
    seen(): SeenUsage | undefined {
      if (!any) return undefined;
      const cachedInput = counts["cache_read_input_tokens"] ?? 0;
      const cacheWrite = counts["cache_creation_input_tokens"];
      const input = (counts["input_tokens"] ?? 0) + cachedInput + (cacheWrite ?? 0);
      const output = counts["output_tokens"] ?? 0;
      return {
        input,
        cachedInput,
        ...(cacheWrite === undefined ? {} : { cacheWrite }),
        output,
        final,
      };
    },
  };
}

function endsMessage(event: Readonly<Record<string, unknown>>): boolean {
  return typeof objectOf(event["delta"])["stop_reason"] === "string";
}
