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
  costUsd: 0,
};

/** Too many requests (RFC 6585), overloaded (RFC 9110), and Anthropic's own number for that. */
const LIMITED: ReadonlySet<number> = new Set([429, 503, 529]);
const UNAUTHENTICATED: ReadonlySet<number> = new Set([401, 403]);

/** Whether an upstream's status asks to come back later. */
export function isLimitStatus(status: number): boolean {
  return LIMITED.has(status);
}

/** Whether an upstream's status says that the credential does not do. */
export function isRefusedCredential(status: number): boolean {
  return UNAUTHENTICATED.has(status);
}

/** Adds a request; `requests` counts the refused ones too. Pure. */
export function withEntry(totals: EgressTotals, entry: EgressEntry): EgressTotals {
  const { outcome, status, tokens } = entry;
  // What the gateway itself refused says nothing about the upstream.
  const answered = outcome === "answered" || outcome === "cut" ? status : null;
  return {
    requests: totals.requests + 1,
    refused: totals.refused + Number(outcome === "refused"),
    failed: totals.failed + Number(outcome === "failed"),
    rateLimited: totals.rateLimited + Number(answered !== null && isLimitStatus(answered)),
    unauthenticated:
      totals.unauthenticated + Number(answered !== null && isRefusedCredential(answered)),
    requestBytes: totals.requestBytes + entry.requestBytes,
    responseBytes: totals.responseBytes + entry.responseBytes,
    inputTokens: totals.inputTokens + (tokens?.input ?? 0),
    outputTokens: totals.outputTokens + (tokens?.output ?? 0),
    costUsd: costWith(totals.costUsd, entry),
  };
}

/** Unknown from the first request on that used tokens and has no price. */
function costWith(sum: number | null, { tokens, costUsd }: EgressEntry): number | null {
  if (tokens === null) return sum;
  return sum === null || costUsd === null ? null : sum + costUsd;
}

export function sumOf(entries: Iterable<EgressEntry>): EgressTotals {
  let totals = NO_EGRESS;
  for (const entry of entries) totals = withEntry(totals, entry);
  return totals;
}
