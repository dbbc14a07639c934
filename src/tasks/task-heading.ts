import { EMOJI } from "./status.ts";

/** What a heading says about a task: an id as written, valid or not, and the rest as title. */
export interface TaskHeading {
  readonly id: string;
  readonly title: string;
}

const BRACKETED = /^\[([^\s[\]]{1,200})\]\s*[:—–·-]?\s*(.*)$/su;
/**
 * An id, a separator, a title: `T1 — Title`, `TASK-0001: Title`, `RR-01 · Title`, `T1 - Title`. A hyphen and an
 * en dash need a space beside them, since ids hold hyphens and `T1–T3` is a range.
 */
const SEPARATED =
  /^(?!\[)([^\s:：—―·]{1,200}?)(?:\s*[—―·：]\s*|\s+[–−-]{1,2}\s+|[–−]\s+|:(?:\s+|$))(.*)$/su;
const ALONE = /^(\S{1,200})$/u;
const LEADING_EMOJI = new RegExp(String.raw`^(?:${EMOJI.source}|\s)+`, "u");

/**
 * Reads the id of a task from a heading's text. An id holds a digit, so that `Notes: later` has none; whether
 * it may be used is the judge's business. A numbered heading (`5. Task Breakdown`) has no id.
 */
export function readTaskHeading(text: string): TaskHeading | null {
  const bare = text.replace(LEADING_EMOJI, "").trim();
  const match =
    BRACKETED.exec(bare) ?? SEPARATED.exec(bare) ?? ALONE.exec(bare.replaceAll(EMOJI, "").trim());
  const id = match?.[1];
  if (id === undefined || !/\d/.test(id) || /^\d+[.)]$/.test(id)) return null;
  return { id, title: (match?.[2] ?? "").trim() };
}
