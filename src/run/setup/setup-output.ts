import { StringDecoder } from "node:string_decoder";
import { SETUP_BEGINS } from "../../core/artifacts.ts";
import { LIMITS } from "../../core/limits.ts";
import { visible } from "../../core/visible.ts";

/** What Node says whenever it is told to use a proxy; true of every command, and the cause of nothing. */
const NODE_WARNING = /^\(node:\d+\) \[UNDICI-EHPA\]|^\(Use `node --trace-warnings/;
const KEPT_LINES = 12;
const SHOWN_CHARACTERS = 300;

/**
 * Follows what the setup container prints: which command is under way, by the guest's lines, and the last lines. Programs in
 * the container can print such lines too, so this is only for sentences.
 *
 * @param onCommand called with the number of each command that begins, from 1.
 */
export function setupOutput(commands: number, onCommand: (number: number) => void) {
  const last: string[] = [];
  let current = 0;
  const take = (line: string): void => {
    const number = Number(/^(\d{1,6}) of /.exec(line.slice(SETUP_BEGINS.length))?.[1] ?? 0);
    if (line.startsWith(SETUP_BEGINS) && number === current + 1 && number <= commands) {
      current = number;
      onCommand(number);
    } else if (line.trim() !== "" && !NODE_WARNING.test(line)) {
      last.push(visible(line, "one-line").slice(0, SHOWN_CHARACTERS));
      if (last.length > KEPT_LINES) last.shift();
    }
  };
  const streams = { stdout: lines(take), stderr: lines(take) };
  return {
    add: (stream: "stdout" | "stderr", chunk: Buffer): void => streams[stream].add(chunk),
    /** From 1; 0 when none had begun. To be called when nothing more comes. */
    end(): { readonly command: number; readonly lastLines: readonly string[] } {
      for (const stream of Object.values(streams)) stream.end();
      return { command: current, lastLines: last };
    },
  };
}

function lines(onLine: (line: string) => void) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return {
    add(chunk: Buffer): void {
      const parts = (rest + decoder.write(chunk)).split("\n");
      rest = (parts.pop() ?? "").slice(0, LIMITS.agentLineBytes);
      for (const line of parts) onLine(line);
    },
    end(): void {
      if (rest !== "") onLine(rest);
      rest = "";
    },
  };
}
