import { open } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import type { AgentEvent } from "../../agents/port.ts";

/** One line of `agent.jsonl`. */
export type LoggedEvent = AgentEvent & { readonly at: string };

const CHUNK_BYTES = 256 * 1024;

/** Reads what has been added to a run's `agent.jsonl` since the last look; the file need not be there yet. */
export function eventTail(path: string) {
  let offset = 0;
  let rest = "";
  const decoder = new StringDecoder("utf8");
  return {
    async more(): Promise<readonly LoggedEvent[]> {
      const events: LoggedEvent[] = [];
      const handle = await open(path, "r").catch(() => undefined);
      if (handle === undefined) return events;
      try {
        const buffer = Buffer.alloc(CHUNK_BYTES);
        for (;;) {
          const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
          if (bytesRead === 0) return events;
          offset += bytesRead;
          const lines = (rest + decoder.write(buffer.subarray(0, bytesRead))).split("\n");
          // The last line may be half written while the run goes on.
          rest = lines.pop() ?? "";
          events.push(...lines.flatMap(parse));
        }
      } finally {
        await handle.close();
      }
    },
  };
}

function parse(line: string): readonly LoggedEvent[] {
  try {
    // Our own file in a directory that only we can write; the texts in it are the agent's.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return [JSON.parse(line) as LoggedEvent];
  } catch {
    return [];
  }
}
