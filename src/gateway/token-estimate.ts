import type { TokenUse } from "../core/egress.ts";
import type { AnswerTap } from "./answer-tap.ts";

/** Text has about 4 bytes a token, code and JSON a little less. */
const BYTES_A_TOKEN = 3;
/**
 * An event of a stream is mostly the event: about 200 bytes for a token or a few. What is reckoned too high covers the
 * tokens a model thinks without showing them.
 */
const STREAM_BYTES_A_TOKEN = 8;

/**
 * What an answer used: as it said, where it said so to its end, else reckoned from bytes, on the high side, since a
 * budget must not be got around by going away early.
 *
 * @param ended `whole` when the upstream's answer came to its end.
 */
export function tokensUsed(
  tap: AnswerTap,
  ended: "whole" | "cut-off",
  bytes: { readonly request: number; readonly response: number },
): TokenUse {
  const seen = tap.seen();
  if (seen !== undefined && (ended === "whole" || seen.final)) {
    const { final: _, ...tokens } = seen;
    return { ...tokens, counted: "reported" };
  }
  const rate = tap.form === "events" ? STREAM_BYTES_A_TOKEN : BYTES_A_TOKEN;
  const output = Math.ceil(bytes.response / rate);
  return {
    input: seen?.input ?? Math.ceil(bytes.request / BYTES_A_TOKEN),
    cachedInput: seen?.cachedInput ?? 0,
    output: Math.max(seen?.output ?? 0, output),
    counted: "estimated",
  };
}

/** Of a request whose answer never began, though the upstream may have worked on it. */
export function inputOnly(requestBytes: number): TokenUse {
  const input = Math.ceil(requestBytes / BYTES_A_TOKEN);
  return { input, cachedInput: 0, output: 0, counted: "estimated" };
}
