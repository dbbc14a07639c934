import type { AgentEvent } from "../../agents/port.ts";

/** A log is cut at line ends, which are looked for this far. */
const LONGEST_BYTES = 1024 * 1024;
const CUT = " … [guardloop: cut]";

/** One line of `agent.jsonl`. Texts are cut where the line would be too long for a log of that size. */
export function eventLine(event: AgentEvent & { readonly at: string }, limitBytes: number): Buffer {
  const longest = Math.min(LONGEST_BYTES, Math.floor(limitBytes / 8));
  const whole = lineOf(event);
  if (whole.length <= longest) return whole;
  // A character takes up to six bytes in JSON, and an event has few texts.
  return lineOf(event, Math.floor(longest / 32));
}

function lineOf(event: object, longestText = Infinity): Buffer {
  const text = JSON.stringify(event, (_key, value: unknown) =>
    typeof value === "string" && value.length > longestText
      ? value.slice(0, longestText) + CUT
      : value,
  );
  return Buffer.from(`${text}\n`);
}
