import { writeSync } from "node:fs";
import { SAID_BY_GUEST } from "../core/artifacts.ts";

/** Prints one line on standard error. */
export type Say = (line: string) => void;

const MAX_LINE = 600;
const STDERR = 2;

/** Writes on standard error without what Node loads for it, unless the reader is slow. */
export function writeOnStderr(text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    written = writeSync(STDERR, bytes);
  } catch {
    // Full, and made non-blocking by the agent, which shares it; or closed, which the stream reports.
  }
  if (written < bytes.length) process.stderr.write(bytes.subarray(written));
}

/**
 * A printer for guest lines. They end up in the host's log next to what the agent printed, and they may quote
 * file names, so control and bidirectional characters are made visible here.
 */
export function sayOn(write: (text: string) => void): Say {
  return (line) => write(`${SAID_BY_GUEST}${visible(line).slice(0, MAX_LINE)}\n`);
}

/** Replaces control characters, line and bidirectional controls by their code, as `\u{1b}`. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
