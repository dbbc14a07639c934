import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { AgentEvent } from "../../agents/port.ts";
import { ARTIFACT, GUEST_EXPORTS, GUEST_GOES_ON, GUEST_WAITS } from "../../core/artifacts.ts";
import type { Progress } from "../services.ts";
import type { completion } from "./completion.ts";

const LOOK_MS = 1_000;
const LINE_CHARS = 4_096;

/** What a working agent does; a `usage` ends a turn, and the rest is what programs print. */
const WORK: ReadonlySet<AgentEvent["type"]> = new Set([
  "message",
  "thinking",
  "command",
  "command-result",
  "file-change",
]);

/**
 * Looks for the signs that an agent is done: in its event stream, in the guest's words, and in the files that it must
 * leave, which are looked at and not read. All of them can be forged from inside, and a forger only hastens its own end.
 */
export function watchForCompletion(done: ReturnType<typeof completion>, outbox: string) {
  const guestLine = lines((line) => {
    if (line === GUEST_EXPORTS) done.exports(performance.now());
    // The turn that was over has another one.
    if (line.startsWith(GUEST_WAITS) || line.startsWith(GUEST_GOES_ON)) done.didMore();
  });
  let before: string | undefined;
  const look = async (): Promise<void> => {
    const now = await requiredFiles(outbox);
    if (now === undefined) done.artifactsAre("missing", performance.now());
    else done.artifactsAre(now === before ? "complete" : "changed", performance.now());
    before = now;
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  return {
    sawError: (chunk: Buffer): void => guestLine(chunk),
    sawProgress(progress: Progress): void {
      if (progress.type !== "agent-event") return;
      const { type } = progress.event;
      // The agents that have an event stream tell what a turn has used when it is over, and they are given one turn.
      if (type === "usage") done.saidDone(performance.now());
      else if (WORK.has(type)) done.didMore();
    },
    [Symbol.dispose](): void {
      clearInterval(timer);
    },
  };
}

/** Changes whenever a required file changes; undefined while one is not there, or is empty. */
async function requiredFiles(outbox: string): Promise<string | undefined> {
  const seen: string[] = [];
  for (const name of [ARTIFACT.taskId, ARTIFACT.commitMessage]) {
    const stat = await lstat(join(outbox, name)).catch(() => undefined);
    if (stat === undefined || !stat.isFile() || stat.size === 0) return undefined;
    seen.push(`${stat.ino} ${stat.size} ${stat.ctimeMs}`);
  }
  return seen.join("\n");
}

/** Calls back for each line of a stream of chunks; of a line that is too long, for what does not fit. */
function lines(onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return (chunk) => {
    const all = (rest + decoder.write(chunk)).split("\n");
    rest = (all.pop() ?? "").slice(0, LINE_CHARS);
    for (const line of all) onLine(line);
  };
}
