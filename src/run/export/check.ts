/** One thing that was looked at. After a mismatch nothing more is. */
export interface Check {
  readonly name: string;
  readonly verdict: "ok" | "skipped" | "mismatch";
  /** A sentence for a person; may hold text of the archive. */
  readonly text: string;
}

export type Outcome = Omit<Check, "name">;

export const good = (text: string): Outcome => ({ verdict: "ok", text });
export const skipped = (text: string): Outcome => ({ verdict: "skipped", text });
export const mismatch = (text: string): Outcome => ({ verdict: "mismatch", text });
