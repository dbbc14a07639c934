import type { StoredEvent } from "../../core/events.ts";

/**
 * A short name for each run, to tell the lines of several apart: its task where the host assigned one (with the number
 * of the attempt), else its id. Learns from the events, in the order in which they come.
 */
export interface RunLabels {
  readonly learn: (stored: StoredEvent) => void;
  readonly of: (runId: string) => string;
}

export function runLabels(): RunLabels {
  const names = new Map<string, string>();
  return {
    learn({ runId, event }): void {
      if (event.type !== "run-created") return;
      const { claims = [], attempt = null } = event;
      const [only] = claims;
      if (only === undefined || claims.length > 1) return;
      names.set(runId, attempt === null ? only : `${only}#${attempt.number}`);
    },
    of: (runId) => names.get(runId) ?? runId,
  };
}
