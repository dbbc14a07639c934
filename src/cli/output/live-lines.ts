import { columnsOf, cutTo } from "./cut.ts";
import type { Stream } from "./output.ts";
import { type Segment, render } from "./text.ts";

/** Lines at the lower end of a terminal that are drawn over in place. */
export interface LiveLines {
  /** Replaces what was drawn before. Lines are escaped, and cut to the terminal's width and height. */
  readonly draw: (lines: readonly (readonly Segment[])[]) => void;
  /** How many lines fit. */
  readonly room: () => number;
  /** Takes them away. May be called again. */
  readonly erase: () => void;
  /** Writes something that stays, above them. */
  readonly above: (write: () => void) => void;
}

/** Control sequences of ECMA-48 that every terminal knows: cursor up, and erase to the end of the screen. */
const up = (rows: number): string => (rows === 0 ? "" : `\u001B[${rows}A`);
const ERASE_BELOW = "\r\u001B[0J";

/** For a stream that is a terminal. The cursor is not hidden, so that a crash leaves nothing to mend. */
export function liveLines(stream: Stream, colour: "on" | "off"): LiveLines {
  let shown: readonly (readonly Segment[])[] = [];
  const columns = (): number => Math.max(10, stream.columns ?? 80);
  // A terminal that became narrower has wrapped the lines meanwhile.
  const rowsOf = (line: readonly Segment[]): number =>
    Math.max(1, Math.ceil(columnsOf(line) / columns()));
  const erasure = (): string => {
    if (shown.length === 0) return "";
    return up(shown.reduce((sum, line) => sum + rowsOf(line), 0)) + ERASE_BELOW;
  };
  const text = (): string => shown.map((line) => `${render(line, colour)}\n`).join("");
  const room = (): number => Math.max(1, (stream.rows ?? 24) - 1);
  return {
    room,
    draw(lines): void {
      const before = erasure();
      shown = lines.slice(0, room()).map((line) => cutTo(line, columns() - 1));
      stream.write(before + text());
    },
    erase(): void {
      const before = erasure();
      shown = [];
      if (before !== "") stream.write(before);
    },
    above(write): void {
      const before = erasure();
      if (before !== "") stream.write(before);
      write();
      if (shown.length > 0) stream.write(text());
    },
  };
}
