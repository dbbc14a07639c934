import type { EgressEntry, EgressTotals } from "../core/egress.ts";
import { isLimit } from "./limit-end.ts";

export const NO_EGRESS: EgressTotals = {
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

/** Sums up one more request. `requests` counts the refused ones too. */
export function withEntry(totals: EgressTotals, entry: EgressEntry): EgressTotals {
  const { outcome, status, tokens } = entry;
  const answered = outcome === "answered" || outcome === "cut";
  const isUnauthenticated = answered && (status === 401 || status === 403);
  return {
    requests: totals.requests + 1,
    refused: totals.refused + Number(outcome === "refused"),
    failed: totals.failed + Number(outcome === "failed"),
    rateLimited: totals.rateLimited + Number(answered && status !== null && isLimit(status)),
    unauthenticated: totals.unauthenticated + Number(isUnauthenticated),
    requestBytes: totals.requestBytes + entry.requestBytes,
    responseBytes: totals.responseBytes + entry.responseBytes,
    inputTokens: totals.inputTokens + (tokens?.input ?? 0),
    outputTokens: totals.outputTokens + (tokens?.output ?? 0),
    costUsd: costWith(totals.costUsd, entry),
  };
}

export function egressTotals(entries: Iterable<EgressEntry>): EgressTotals {
  let totals = NO_EGRESS;
  for (const entry of entries) totals = withEntry(totals, entry);
  return totals;
}

/** Unknown from the first request on that used tokens and has no price. */
function costWith(sum: number | null, { tokens, costUsd }: EgressEntry): number | null {
  if (tokens === null) return sum;
  return sum === null || costUsd === null ? null : sum + costUsd;
}
