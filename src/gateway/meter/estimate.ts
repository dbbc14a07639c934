import type { TokenUse } from "../../core/egress.ts";

/**
 * Text is seldom denser than a token for two bytes; English and code have one for three to five. A streamed answer has
 * a whole line of JSON around each piece, so this is well on the high side.
 */
const BYTES_PER_TOKEN = 2;

/**
 * What a request may have used whose answer does not say, from the bytes that went over the wire: more than it was, but
 * for thoughts of a model that the answer does not show.
 */
export function estimateTokens(bytes: {
  readonly requestBytes: number;
  readonly responseBytes: number;
}): TokenUse {
  return {
    input: Math.ceil(bytes.requestBytes / BYTES_PER_TOKEN),
    cachedInput: 0,
    output: Math.ceil(bytes.responseBytes / BYTES_PER_TOKEN),
    counted: "estimated",
  };
}
