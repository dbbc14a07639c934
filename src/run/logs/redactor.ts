import type { Redaction } from "../export/redact.ts";
import { type Needles, needlesOf } from "./needles.ts";

/** Cleans a stream of bytes, piece by piece. */
export interface CleanStream {
  /** What is certain by now; bytes that may be the beginning of a value are kept back. */
  readonly add: (chunk: Buffer) => Buffer;
  /** What was kept back. Nothing may be added afterwards. */
  readonly end: () => Buffer;
  /** What was kept back, as it came, for another stream to begin with. Nothing may be added afterwards. */
  readonly rest: () => Buffer;
}

/** Replaces values by what they are called, wherever they stand. */
export interface Redactor {
  readonly stream: () => CleanStream;
  readonly text: (text: string) => string;
  /** Every text within plain JSON data, but for keys. */
  readonly data: <T>(data: T) => T;
}

const NOTHING: Redactor = {
  stream: () => ({
    add: (chunk) => chunk,
    end: () => Buffer.alloc(0),
    rest: () => Buffer.alloc(0),
  }),
  text: (text) => text,
  data: (data) => data,
};

/** Of values that overlap, everything is replaced, under the name of the one that begins first. */
export function redactorOf(redactions: readonly Redaction[]): Redactor {
  if (redactions.length === 0) return NOTHING;
  const needles = needlesOf(redactions.map((one) => one.text));
  const stream = (): CleanStream => cleanStream(needles, redactions);
  const text = (dirty: string): string => {
    const bytes = Buffer.from(dirty);
    let has: "none" | "some" = "none";
    needles.scan(bytes, needles.start, () => (has = "some"));
    if (has === "none") return dirty;
    const one = stream();
    return Buffer.concat([one.add(bytes), one.end()]).toString("utf8");
  };
  return {
    stream,
    text,
    // Only texts are replaced by texts, so the shape stays.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    data: <T>(data: T): T => mapTexts(data, text) as T,
  };
}

function mapTexts(data: unknown, map: (text: string) => string): unknown {
  if (typeof data === "string") return map(data);
  if (Array.isArray(data)) return data.map((one) => mapTexts(one, map));
  if (typeof data !== "object" || data === null) return data;
  const entries = Object.entries(data);
  return Object.fromEntries(entries.map(([key, one]) => [key, mapTexts(one, map)]));
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly marker: string;
}

function byPlace(a: Found, b: Found): number {
  return a.start - b.start || b.end - a.end;
}

/** Positions count the bytes of the whole stream. */
function cleanStream(needles: Needles, redactions: readonly Redaction[]): CleanStream {
  let state = needles.start;
  let held: Buffer = Buffer.alloc(0);
  let position = 0;
  let found: Found[] = [];
  /** Everything before is replaced already, also what is not there yet. */
  let covered = 0;
  /** Gives out what lies before `until`: no value that is found later can begin there. */
  const give = (text: Buffer, until: number): Buffer => {
    const base = position - text.length;
    const parts: Buffer[] = [];
    let at = Math.min(Math.max(base, covered), until);
    const certain = found.filter((one) => one.start < until);
    for (const { start, end, marker } of certain.toSorted(byPlace)) {
      if (start >= covered) parts.push(text.subarray(at - base, start - base), Buffer.from(marker));
      covered = Math.max(covered, end);
      at = Math.min(Math.max(at, covered), until);
    }
    parts.push(text.subarray(at - base, until - base));
    found = found.filter((one) => one.start >= until);
    held = text.subarray(until - base);
    return Buffer.concat(parts);
  };
  return {
    add(chunk): Buffer {
      state = needles.scan(chunk, state, (needle, at) => {
        const which = redactions[needle];
        const end = position + at + 1;
        if (which !== undefined)
          found.push({ start: end - which.text.length, end, marker: which.marker });
      });
      position += chunk.length;
      if (
        held.length === 0 &&
        found.length === 0 &&
        state === needles.start &&
        covered <= position - chunk.length
      )
        return chunk;
      return give(Buffer.concat([held, chunk]), position - needles.depth(state));
    },
    end: () => give(held, position),
    rest: () =>
      held.subarray(Math.min(Math.max(covered - (position - held.length), 0), held.length)),
  };
}
