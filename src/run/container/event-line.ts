import type { AgentEvent } from "../../agents/port.ts";

/** A log is cut at line ends, which are looked for this far. */
const LONGEST_BYTES = 1024 * 1024;
const CUT = " … [guardloop: cut]";
/** What a character of a text takes at most in UTF-8. */
const UTF8_BYTES = 3;

/** One line of `agent.jsonl`. Texts are cut where the line would be too long for a log of that size. */
export function eventLine(event: AgentEvent & { readonly at: string }, limitBytes: number): string {
  const longest = Math.min(LONGEST_BYTES, Math.floor(limitBytes / 8));
  const whole = `${JSON.stringify(event)}\n`;
  if (whole.length * UTF8_BYTES <= longest || Buffer.byteLength(whole) <= longest) return whole;
  // A character takes up to six bytes in JSON, and an event has few texts.
  return `${JSON.stringify(event, cutTo(Math.floor(longest / 32)))}\n`;
}

function cutTo(longestText: number) {
  return (_key: string, value: unknown): unknown =>
    typeof value === "string" && value.length > longestText
      ? value.slice(0, longestText) + CUT
      : value;
}
