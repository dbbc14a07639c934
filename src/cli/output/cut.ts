import { visible } from "../../core/visible.ts";
import type { Segment } from "./text.ts";

/** Beyond Latin, Greek and Cyrillic a character may take two columns; too short does no harm, too long would. */
const LAST_NARROW = 0x52f;
/** Punctuation and arrows of our own messages. */
const NARROW_PUNCTUATION = /[\u2010-\u2027\u2190-\u21FF]/;

/** Shortens a line to a number of columns, so that it never wraps. What is cut ends with `…`. */
export function cutTo(segments: readonly Segment[], columns: number): readonly Segment[] {
  const cut: Segment[] = [];
  let room = Math.max(1, columns);
  for (const segment of segments) {
    const text = visible(typeof segment === "string" ? segment : segment.text, "one-line");
    const fits = prefixOf(text, room);
    if (fits.text.length < text.length) {
      cut.push(like(segment, `${prefixOf(text, room - 1).text}…`));
      return cut;
    }
    cut.push(like(segment, text));
    room -= fits.columns;
  }
  return cut;
}

/** How many columns a line takes at most. */
export function columnsOf(segments: readonly Segment[]): number {
  return segments
    .map((one) => prefixOf(visible(typeof one === "string" ? one : one.text, "one-line"), Infinity))
    .reduce((sum, { columns }) => sum + columns, 0);
}

function like(segment: Segment, text: string): Segment {
  return typeof segment === "string" ? text : { ...segment, text };
}

function prefixOf(text: string, room: number): { readonly text: string; readonly columns: number } {
  let columns = 0;
  let length = 0;
  for (const character of text) {
    const width =
      (character.codePointAt(0) ?? 0) <= LAST_NARROW || NARROW_PUNCTUATION.test(character) ? 1 : 2;
    if (columns + width > room) break;
    columns += width;
    length += character.length;
  }
  return { text: text.slice(0, length), columns };
}
