import type { EgressEntry, EgressTotals } from "../../core/egress.ts";

const NONE: EgressTotals = {
  requests: 0,
  refused: 0,
  failed: 0,
  rateLimited: 0,
  unauthenticated: 0,
  requestBytes: 0,
  responseBytes: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
};

/** Sums connections up. What is inside of them cannot be seen, so there are no tokens and no price. */
export function connectionTotals() {
  let totals = NONE;
  return {
    add({ outcome, requestBytes, responseBytes }: EgressEntry): void {
      totals = {
        ...totals,
        requests: totals.requests + 1,
        refused: totals.refused + (outcome === "refused" ? 1 : 0),
        failed: totals.failed + (outcome === "failed" ? 1 : 0),
        requestBytes: totals.requestBytes + requestBytes,
        responseBytes: totals.responseBytes + responseBytes,
      };
    },
    now: (): EgressTotals => totals,
  };
}
