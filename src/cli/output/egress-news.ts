import type { EgressEntry } from "../../core/egress.ts";
import { isLimitStatus, isRefusedCredential } from "../../core/egress-totals.ts";

/** An agent that tries again and again must not fill the terminal. */
const MOST_A_RUN = 20;

/**
 * What of the requests of runs is worth a line while they go on: the first of each refusal, failure and complaint of the
 * upstream. The rest is in `guardloop logs RUN --egress`.
 */
export function egressNews() {
  const told = new Map<string, Set<string>>();
  return (runId: string, entry: EgressEntry): string | undefined => {
    const news = inWords(entry);
    if (news === undefined) return undefined;
    const before = told.get(runId) ?? new Set<string>();
    told.set(runId, before);
    if (before.has(news) || before.size >= MOST_A_RUN) return undefined;
    before.add(news);
    return news;
  };
}

function inWords({ outcome, status, host, reason }: EgressEntry): string | undefined {
  if (outcome === "refused") return `refused a request: ${reason ?? host}`;
  if (outcome === "failed") return `a request failed: ${reason ?? host}`;
  if (outcome !== "answered" || status === null) return undefined;
  if (isRefusedCredential(status)) return `${host} refused the credential (${status})`;
  if (status === 429) return `${host} limits how much may be asked (429)`;
  if (isLimitStatus(status)) return `${host} is overloaded (${status})`;
  return undefined;
}
