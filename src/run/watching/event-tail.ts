import type { AgentEvent } from "../../agents/port.ts";
import { JSON_CUT } from "../logs/cut-mark.ts";
import { lineTail } from "../logs/line-tail.ts";

/** One line of `agent.jsonl`. */
export type LoggedEvent = AgentEvent & { readonly at: string };

/** Reads what has been added to a run's `agent.jsonl` since the last look; the file need not be there yet. */
export function eventTail(path: string) {
  const lines = lineTail(path, JSON_CUT);
  return {
    async more(): Promise<readonly LoggedEvent[]> {
      return (await lines.more()).flatMap(parse);
    },
    [Symbol.asyncDispose]: () => lines[Symbol.asyncDispose](),
  };
}

/** A line that says that something is missing is no event. */
function parse(line: string): readonly LoggedEvent[] {
  try {
    // Our own file in a directory that only we can write; the texts in it are the agent's.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const event = JSON.parse(line) as LoggedEvent | { readonly type: "cut" };
    return event.type === "cut" ? [] : [event];
  } catch {
    return [];
  }
}
