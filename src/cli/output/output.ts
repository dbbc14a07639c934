import { type LiveLines, liveLines } from "./live-lines.ts";
import { type Segment, render, widthOf } from "./text.ts";

export interface Stream {
  readonly write: (text: string | Uint8Array) => unknown;
  readonly isTTY?: boolean | undefined;
  /** Of a terminal. */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/**
 * Where a command says something: results on standard output, progress on standard error. The only way out for text,
 * so that all of it is escaped.
 */
export interface Output {
  /** A line of the result. */
  readonly result: (...segments: readonly Segment[]) => void;
  /** A line of progress, a notice or a failure. */
  readonly progress: (...segments: readonly Segment[]) => void;
  /** One JSON document on one line, on standard output. JSON strings escape control characters by themselves. */
  readonly json: (value: unknown) => void;
  readonly table: (rows: readonly (readonly Segment[])[]) => void;
  /** Lines that are drawn in place; undefined where the stream is not a terminal. */
  readonly live: (stream: "stdout" | "stderr") => LiveLines | undefined;
  /** Rings the terminal's bell; nothing where no stream is a terminal. */
  readonly bell: () => void;
  /** Exact bytes for another program; on a terminal they are made visible like everything else. */
  readonly bytes: (value: Uint8Array) => void;
  /** Where results go: a person reads them on a terminal. */
  readonly goesTo: "terminal" | "elsewhere";
  /** An output whose results are gathered as they would be printed here, for a pager to show. */
  readonly gathering: () => { readonly output: Output; readonly text: () => string };
}

interface Streams {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly noColor: boolean;
}

export function makeOutput(streams: Streams): Output {
  const colourOf = (stream: Stream) =>
    stream.isTTY === true && !streams.noColor ? ("on" as const) : ("off" as const);
  const lives = new Map<"stdout" | "stderr", LiveLines>();
  // Both streams are usually the same terminal, so whatever is written goes above what is drawn.
  const write = (stream: Stream, text: string): void => {
    const [live] = lives.values();
    if (live === undefined) stream.write(text);
    else live.above(() => void stream.write(text));
  };
  const result = (...segments: readonly Segment[]): void =>
    write(streams.stdout, `${render(segments, colourOf(streams.stdout))}\n`);
  return {
    result,
    progress(...segments): void {
      write(streams.stderr, `${render(segments, colourOf(streams.stderr))}\n`);
    },
    json(value): void {
      write(streams.stdout, `${escapeNonAscii(JSON.stringify(value))}\n`);
    },
    table(rows): void {
      for (const row of alignRows(rows)) result(...row);
    },
    live(name) {
      const stream = streams[name];
      if (stream.isTTY !== true) return undefined;
      const live = lives.get(name) ?? liveLines(stream, colourOf(stream));
      lives.set(name, live);
      return live;
    },
    bell(): void {
      const terminal = [streams.stderr, streams.stdout].find((stream) => stream.isTTY === true);
      terminal?.write("\u0007");
    },
    bytes(value): void {
      if (streams.stdout.isTTY === true) result(Buffer.from(value).toString("utf8").trimEnd());
      else streams.stdout.write(value);
    },
    goesTo: streams.stdout.isTTY === true ? "terminal" : "elsewhere",
    gathering() {
      const parts: string[] = [];
      const stdout: Stream = {
        write: (text) => parts.push(text.toString()),
        isTTY: streams.stdout.isTTY,
      };
      return { output: makeOutput({ ...streams, stdout }), text: () => parts.join("") };
    },
  };
}

/** Pads all but the last column to the widest of its cells. */
function alignRows(rows: readonly (readonly Segment[])[]): readonly (readonly Segment[])[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...rows.map((row) => widthOf(row[column] ?? ""))),
  );
  return rows.map((row) =>
    row.flatMap((cell, column) => {
      const pad = column === row.length - 1 ? 0 : (widths[column] ?? 0) - widthOf(cell) + 2;
      return [cell, " ".repeat(pad)];
    }),
  );
}

/** C1, bidi and zero-width characters are legal in JSON, but would steer a terminal all the same. */
function escapeNonAscii(json: string): string {
  return json.replaceAll(
    /[\u007F-\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
