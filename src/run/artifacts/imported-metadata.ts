import type { Identity, PatchEntry } from "../../core/artifacts.ts";
import { LIMITS } from "../../core/limits.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { visible } from "../../core/visible.ts";

/** Author dates beyond this are not believed: 2100-01-01 in seconds after the epoch. */
const LATEST_SECONDS = 4_102_444_800;

/** A commit's author and message as they are published, and what had to be changed for it. */
export interface ImportedMetadata {
  readonly message: string;
  readonly author: Identity;
  /** To be added by the host, besides its own. */
  readonly trailers: readonly string[];
  /** One clause each, in our words; for a finding. */
  readonly changes: readonly string[];
}

export interface KnownMetadata {
  /** What the agent asked to be said about its last commit; stands in for an empty message. */
  readonly message: string;
  /** The agent's identity according to the configuration. */
  readonly agent: RunSpec["agent"]["author"];
  readonly authorship: "keep" | "replace";
  /** The run's start in Git's raw form; stands in for a date that cannot be believed. */
  readonly date: string;
}

/** Makes a commit's metadata fit to be published: nothing that Git would refuse, a terminal obey or a tool take for ours. */
export function importedMetadata(entry: PatchEntry, known: KnownMetadata): ImportedMetadata {
  const message = importedMessage(entry.message, known.message);
  const author = importedAuthor(entry.author, known);
  return {
    message: message.text,
    author: author.identity,
    trailers: author.trailers,
    changes: [...author.changes, ...message.changes],
  };
}

interface ImportedText {
  readonly text: string;
  readonly changes: readonly string[];
}

/** The commit's own message with control characters made visible; the agent's last message where it has none. */
export function importedMessage(own: string, last: string): ImportedText {
  const changes: string[] = [];
  const note = (before: string, after: string, what: string): string => {
    if (before !== after) changes.push(what);
    return after;
  };
  if (own.trim() === "") changes.push("the message was empty");
  const given = own.trim() === "" ? last : own;
  const lines = note(given, given.replaceAll("\r\n", "\n"), "line ends of the message");
  const seen = visible(lines, "keep-lines");
  const clean = note(lines, seen, "control characters in the message were made visible").trim();
  const renamed = withoutOurTrailers(clean);
  const honest = note(clean, renamed, "trailers that only guardloop writes were renamed");
  const cut = cutToBytes(honest, LIMITS.commitMessageBytes);
  return {
    text: note(honest, cut, `the message was cut to ${LIMITS.commitMessageBytes} bytes`),
    changes,
  };
}

/** A line of the agent's that would be taken for one of ours says whose claim it is. */
function withoutOurTrailers(message: string): string {
  return message.replaceAll(
    /^([ \t]*)(guardloop-[a-z-]+|original-author)(?=[ \t]*:)/gim,
    "$1Claimed-$2",
  );
}

/** Never in the middle of a character. */
function cutToBytes(text: string, limitBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= limitBytes) return text;
  let end = limitBytes;
  // Bytes 10xxxxxx go on with a character that began before.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end).trimEnd();
}

interface ImportedAuthor {
  readonly identity: Identity;
  readonly trailers: readonly string[];
  readonly changes: readonly string[];
}

/** The author as the agent had it, or by policy the agent itself, with a date that can be believed. */
function importedAuthor(author: Identity, known: KnownMetadata): ImportedAuthor {
  const { agent } = known;
  const name = withoutMarks(author.name) || agent.name;
  const email = withoutMarks(author.email) || agent.email;
  const changes: string[] = [];
  if (name !== author.name || email !== author.email)
    changes.push("the author held characters that no author may have");
  const date = isBelievable(author.date) ? author.date : known.date;
  if (date !== author.date) changes.push(`the author date ${author.date} cannot be believed`);
  const other = name !== agent.name || email !== agent.email;
  if (known.authorship === "keep" || !other)
    return { identity: { name, email, date }, trailers: [], changes };
  return {
    identity: { ...agent, date },
    trailers: [`Original-Author: ${name} <${email}>`],
    changes: [...changes, `the author ${name} <${email}> was replaced by the agent`],
  };
}

function withoutMarks(text: string): string {
  return visible(text, "one-line").replaceAll(/[<>]/g, "").trim();
}

function isBelievable(date: string): boolean {
  const [seconds = "", zone = ""] = date.split(" ");
  // On the first day a zone can make it a time before the epoch, at which git-log(1) gives up.
  return Number(seconds) >= 86_400 && Number(seconds) < LATEST_SECONDS && zoneIsReal(zone);
}

function zoneIsReal(zone: string): boolean {
  return /^[+-](0\d|1[0-4])[0-5]\d$/.test(zone);
}
