import type { RunEvent, StoredEvent } from "../core/events.ts";

export interface EventRow {
  readonly seq: number;
  readonly run_id: string;
  readonly at: string;
  readonly data: string;
}

// The driver types its rows as unknown; the table's own constraints say what is in them.
export function rows(found: unknown): readonly EventRow[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return found as readonly EventRow[];
}

export function toEvent(row: EventRow): StoredEvent {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const event = JSON.parse(row.data) as RunEvent;
  return { seq: row.seq, runId: row.run_id, at: row.at, event };
}
