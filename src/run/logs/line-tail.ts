import { StringDecoder } from "node:string_decoder";
import { logFollower } from "./log-follower.ts";

/**
 * Reads whole lines of a bounded log: those that were added since the last look. The file need not be there yet.
 *
 * @param cutLine see `logFollower`.
 */
export function lineTail(path: string, cutLine: RegExp) {
  const log = logFollower(path, cutLine);
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return {
    async more(): Promise<readonly string[]> {
      const found: string[] = [];
      for await (const piece of log.more()) {
        const lines = (rest + decoder.write(piece)).split("\n");
        // The last line may be half written while the run goes on.
        rest = lines.pop() ?? "";
        found.push(...lines);
      }
      return found;
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
