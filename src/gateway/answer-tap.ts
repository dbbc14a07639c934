import type { SeenUsage, UsageReader } from "./providers/provider.ts";

/** Of an answer in one piece, and of one event's line; what is longer is passed on all the same, and not read. */
const LONGEST_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;
/** Every provider's word for it begins so; most lines of a stream have none and are not parsed. */
const NEEDLE = Buffer.from('"usage');
const DATA = Buffer.from("data:");

/** Looks at an answer while it passes. Holds a bounded part of it. */
export interface AnswerTap {
  take(chunk: Buffer): void;
  /** What can still be read at the end of the answer. */
  end(): void;
  seen(): SeenUsage | undefined;
  /** The answer so far, where it is one piece of JSON; undefined for a stream and for what is too long. */
  json(): unknown;
  readonly form: "events" | "json";
}

/** @param contentType of the answer; a coded answer (`content-encoding`) is not to be tapped as events. */
export function answerTap(reader: UsageReader, contentType: string): AnswerTap {
  return /^text\/event-stream\b/i.test(contentType) ? eventTap(reader) : jsonTap(reader);
}

function jsonTap(reader: UsageReader): AnswerTap {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let parsed: unknown;
  return {
    form: "json",
    take(chunk): void {
      bytes += chunk.length;
      if (bytes <= LONGEST_BYTES) chunks.push(chunk);
      else chunks = [];
    },
    end(): void {
      if (bytes > LONGEST_BYTES) return;
      parsed = parse(Buffer.concat(chunks).toString("utf8"));
      reader.add(parsed);
    },
    seen: () => reader.seen(),
    json: () => parsed,
  };
}

/** Server-sent events, as of https://html.spec.whatwg.org/multipage/server-sent-events.html, one line of data an event. */
function eventTap(reader: UsageReader): AnswerTap {
  let rest: Buffer[] = [];
  let restBytes = 0;
  const look = (lines: Buffer): void => {
    for (let at = lines.indexOf(NEEDLE); at !== -1;) {
      const start = lines.lastIndexOf(LINE_FEED, at) + 1;
      const next = lines.indexOf(LINE_FEED, at);
      const end = next === -1 ? lines.length : next;
      const line = lines.subarray(start, end);
      if (line.subarray(0, DATA.length).equals(DATA))
        reader.add(parse(line.subarray(DATA.length).toString("utf8")));
      at = lines.indexOf(NEEDLE, end);
    }
  };
  const keep = (part: Buffer): void => {
    restBytes += part.length;
    if (restBytes <= LONGEST_BYTES) rest.push(part);
    else rest = [];
  };
  const complete = (part: Buffer): void => {
    const whole = rest.length === 0 ? part : Buffer.concat([...rest, part]);
    // Of a line that was too long only the end is there, which does not begin like one.
    if (restBytes <= LONGEST_BYTES) look(whole);
    [rest, restBytes] = [[], 0];
  };
  return {
    form: "events",
    take(chunk): void {
      const end = chunk.lastIndexOf(LINE_FEED) + 1;
      if (end > 0) complete(chunk.subarray(0, end));
      if (end < chunk.length) keep(chunk.subarray(end));
    },
    end: () => complete(Buffer.alloc(0)),
    seen: () => reader.seen(),
    json: () => undefined,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
