import type { Identity } from "../core/artifacts.ts";

const SUBJECT_CHARACTERS = 120;
const LAST_DATE_SECONDS = 4_102_444_800;

/** What a mail reader or git-mailinfo(1) takes for something else than a line of the message. */
const MISREAD = [
  /^---/,
  /^-- ?$/,
  /^\+\+\+ /,
  /^@@ /,
  /^diff /,
  /^Index: /,
  /^>*From /,
  /^(?:From|Date|Subject|Sender|To|Cc|Content-[A-Za-z-]+|MIME-Version|Encoding):/i,
  /-- ?(?:>8|8<|>%|%<) ?--/,
  /[ \t]$/,
];

/**
 * A message that every mail format carries unharmed. It only travels in the patch; the exact one is in the
 * manifest. A message that cannot be misread is kept, any other is indented.
 */
export function mailSafeMessage(message: string): string {
  return isPlain(message) ? message : indented(message);
}

function isPlain(message: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (/[\u0000-\u0009\u000b-\u001f\u007f\u0085\u2028\u2029]/.test(message)) return false;
  if (!message.endsWith("\n") || message.endsWith("\n\n") || message.includes("\n\n\n"))
    return false;
  const [subject = "", gap = "", ...body] = message.slice(0, -1).split("\n");
  if (subject.trim() === "" || subject !== tidySubject(subject) || gap !== "") return false;
  return !body.some((line) => MISREAD.some((pattern) => pattern.test(line)));
}

function indented(message: string): string {
  const lines = message
    .split(/\r\n|[\n\r]/)
    .map((line) => line.replaceAll(/[\p{Cc}\u2028\u2029]/gu, "?").trimEnd());
  const first = lines.findIndex((line) => line !== "");
  if (first < 0) return "(no message)\n";
  const rest = lines.slice(first + 1);
  if (rest[0] === "") rest.shift();
  const body = rest.map((line) => (line === "" ? "" : `    ${line}`)).join("\n");
  const text = body.replaceAll(/\n{3,}/g, "\n\n").trimEnd();
  const subject = tidySubject(lines[first] ?? "");
  return text === "" ? `${subject}\n` : `${subject}\n\n${text}\n`;
}

/** One line that no mail program cuts: no leading [tag] or Re:, single spaces, not too long. */
function tidySubject(subject: string): string {
  const tidy = subject
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/^\[([^\]]*)\]/, "($1)")
    .replace(/^re:/i, "Re -")
    .replace(/^[-=+@>[]+/, "");
  const short = Array.from(tidy).slice(0, SUBJECT_CHARACTERS).join("").trim();
  return short === "" || MISREAD.some((pattern) => pattern.test(short))
    ? `Change: ${short}`
    : short;
}

/**
 * An author for the patch's From: header. Whoever cannot be written there as is becomes `fallback`; the exact one
 * is in the manifest.
 */
export function mailSafeAuthor(
  author: Identity,
  fallback: { readonly name: string; readonly email: string },
): Identity {
  const isSafe =
    /^[\p{L}\p{N}](?:[\p{L}\p{N} ._'()-]{0,98}[\p{L}\p{N})])?$/u.test(author.name) &&
    /^[A-Za-z0-9._%+@[\]-]{1,200}$/.test(author.email);
  return { ...(isSafe ? author : fallback), date: mailSafeDate(author.date) };
}

/** The date with an `@` as git-commit(1) wants it for raw dates; the epoch for one that mail cannot say. */
function mailSafeDate(raw: string): string {
  const [seconds = "", zone = ""] = raw.split(" ");
  // On the first day a zone can make it a time before the epoch, at which git-format-patch(1) gives up.
  const isInRange = Number(seconds) >= 86_400 && Number(seconds) < LAST_DATE_SECONDS;
  const isSafe = isInRange && /^[+-](?:0\d|1[0-4])[0-5]\d$/.test(zone);
  return isSafe ? `@${seconds} ${zone}` : "@0 +0000";
}

/** A file-name part made of a subject: `[A-Za-z0-9._-]`, at most 52 characters, never empty. */
export function slugOf(message: string): string {
  const slug = (message.split("\n", 1)[0] ?? "")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replaceAll(/\.{2,}/g, ".")
    .slice(0, 52)
    .replaceAll(/^[-.]+|[-.]+$/g, "");
  return slug === "" ? "change" : slug;
}
