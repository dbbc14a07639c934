import type { EgressEntry } from "../../core/egress.ts";
import { JSON_CUT } from "../logs/cut-mark.ts";
import { lineTail } from "../logs/line-tail.ts";

/** Reads what has been added to a run's `egress.jsonl` since the last look; the file need not be there yet. */
export function egressTail(path: string) {
  const lines = lineTail(path, JSON_CUT);
  return {
    async more(): Promise<readonly EgressEntry[]> {
      return (await lines.more()).flatMap(parse);
    },
    [Symbol.asyncDispose]: () => lines[Symbol.asyncDispose](),
  };
}

/** All of it, as far as it is there. */
export async function readEgress(path: string): Promise<readonly EgressEntry[]> {
  await using tail = egressTail(path);
  // Awaited here: it would be closed before it has read anything.
  return await tail.more();
}

/** A line that says that something is missing is no entry. */
function parse(line: string): readonly EgressEntry[] {
  try {
    // Our own file in a directory that only we can write; the texts in it may be the agent's.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const entry = JSON.parse(line) as EgressEntry | { readonly type: "cut" };
    return "type" in entry ? [] : [entry];
  } catch {
    return [];
  }
}
