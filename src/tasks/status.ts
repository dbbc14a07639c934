import { TASK_STATUSES, type TaskStatus } from "./task.ts";

/**
 * The words of real plans and tools, by the status they mean. Spaces stand for any run of spaces, hyphens and
 * underscores; case does not matter. A word that is not here is `unknown`: never runnable, always reported.
 */
const WORDS: Readonly<Record<TaskStatus, readonly string[]>> = {
  ready: ["ready", "ready for dev", "ready for agent", "next", "todo", "to do", "open", "pending"],
  planned: ["planned", "backlog", "draft", "proposed"],
  active: ["active", "in progress", "doing", "claimed", "assigned", "hooked"],
  review: ["review", "verify", "in review"],
  done: ["done", "completed", "complete", "closed", "resolved", "shipped"],
  blocked: ["blocked", "waiting", "ready for human", "needs info"],
  skip: ["skip", "skipped", "deferred", "cancelled", "canceled", "wontfix", "archived", "parked"],
  unknown: [],
};

const STATUS_BY_WORD: ReadonlyMap<string, TaskStatus> = new Map(
  TASK_STATUSES.flatMap((status) =>
    WORDS[status].map((word): [string, TaskStatus] => [word, status]),
  ),
);

/** For messages: one word for every status a plan can use. */
export const STATUS_WORDS_TO_USE = "ready, planned, in progress, review, done, blocked, deferred";

/** Pictures, their modifiers and the plain check marks. Digits are not in this class. */
export const EMOJI =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u{FE0F}|\u{20E3}|\u{2713}|\u{2717}/gu;
const DONE_MARKS = new Set(["✅", "✔", "☑", "✓"]);
/** What may follow `done` without weakening it: a date, a pull request or issue, a commit. */
const REFERENCE_NOTE = /^(?:on |in )?(?:\d{4}-\d{2}-\d{2}|#\d+|pr #?\d+|[0-9a-f]{7,40}\b)/;
/** Longer text is prose; the pattern below must not be tried on it, its time grows with the square. */
const LONGEST_STATUS = 200;
const NOTE = /^(.*?)\s*(?:\(([^()]*)\)|\s[—–-]\s+(.*))$/su;

/**
 * Maps a status as written (without Markdown markup) to its meaning.
 *
 * The whole text must be a known word: `Ready for review` is not `ready`. Emoji and closing punctuation are
 * ignored, a lone ✅ is `done`. A note may follow a status that cannot start the task (`blocked (legal)`,
 * `done (2026-01-02)`); after `done` only a reference counts, since `done (except tests)` would let others start.
 */
export function normaliseStatus(text: string): TaskStatus {
  if (text.length > LONGEST_STATUS) return "unknown";
  const exact = STATUS_BY_WORD.get(comparable(text));
  if (exact !== undefined) return exact;
  if (comparable(text) === "") return isDoneMark(text) ? "done" : "unknown";
  const noted = NOTE.exec(text.trim());
  return noted === null ? "unknown" : statusWithNote(noted);
}

function statusWithNote([, word = "", inBrackets, afterDash]: RegExpExecArray): TaskStatus {
  const status = STATUS_BY_WORD.get(comparable(word)) ?? "unknown";
  const note = (inBrackets ?? afterDash ?? "").trim().toLowerCase();
  if (status === "done") return REFERENCE_NOTE.test(note) ? "done" : "unknown";
  return status === "ready" || status === "planned" ? "unknown" : status;
}

function isDoneMark(text: string): boolean {
  return (text.match(EMOJI) ?? []).some((mark) => DONE_MARKS.has(mark));
}

function comparable(text: string): string {
  return text
    .replaceAll(EMOJI, "")
    .trim()
    .replace(/[.,;!]+$/, "")
    .replaceAll(/[\s_-]+/g, " ")
    .trim()
    .toLowerCase();
}
