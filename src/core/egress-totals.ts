import type { EgressEntry, EgressTotals } from "./egress.ts";

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
  costUsd: null,
};

/** Too many requests; an overload, as HTTP and as Anthropic say it. */
const LIMITED: ReadonlySet<number> = new Set([429, 503, 529]);
const UNAUTHENTICATED: ReadonlySet<number> = new Set([401, 403]);

/** Adds a request. Pure. What was refused by the gateway says nothing about the upstream. */
export function withEntry(totals: EgressTotals, entry: EgressEntry): EgressTotals {
  const answered = entry.outcome === "answered" ? entry.status : null;
  const isIn = (set: ReadonlySet<number>): number =>
    answered !== null && set.has(answered) ? 1 : 0;
  return {
    requests: totals.requests + 1,
    refused: totals.refused + (entry.outcome === "refused" ? 1 : 0),
    failed: totals.failed + (entry.outcome === "failed" ? 1 : 0),
    rateLimited: totals.rateLimited + isIn(LIMITED),
    unauthenticated: totals.unauthenticated + isIn(UNAUTHENTICATED),
    requestBytes: totals.requestBytes + entry.requestBytes,
    responseBytes: totals.responseBytes + entry.responseBytes,
    inputTokens: totals.inputTokens + (entry.tokens?.input ?? 0),
    outputTokens: totals.outputTokens + (entry.tokens?.output ?? 0),
    costUsd: costOf(totals, entry),
  };
}

/** Null as soon as one request that used tokens has no price. */
function costOf(totals: EgressTotals, entry: EgressEntry): number | null {
  if (entry.tokens === null) return totals.costUsd;
  if (entry.costUsd === null) return null;
  const isFirst = totals.inputTokens === 0 && totals.outputTokens === 0;
  if (totals.costUsd === null) return isFirst ? entry.costUsd : null;
  return totals.costUsd + entry.costUsd;
}

export function sumOf(entries: readonly EgressEntry[]): EgressTotals {
  return entries.reduce(withEntry, NO_EGRESS);
}
