import { StringDecoder } from "node:string_decoder";
import type { AgentEvent } from "../../agents/port.ts";
import { JSON_CUT } from "../logs/cut-mark.ts";
import { logFollower } from "../logs/log-follower.ts";

/** One line of `agent.jsonl`. */
export type LoggedEvent = AgentEvent & { readonly at: string };

/** Reads what has been added to a run's `agent.jsonl` since the last look; the file need not be there yet. */
export function eventTail(path: string) {
  const log = logFollower(path, JSON_CUT);
  let rest = "";
  const decoder = new StringDecoder("utf8");
  return {
    async more(): Promise<readonly LoggedEvent[]> {
      const events: LoggedEvent[] = [];
      for await (const piece of log.more()) {
        const lines = (rest + decoder.write(piece)).split("\n");
        // The last line may be half written while the run goes on.
        rest = lines.pop() ?? "";
        events.push(...lines.flatMap(parse));
      }
      return events;
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
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
