import { open } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { hostFault } from "../../core/host-fault.ts";
import { LIMITS } from "../../core/limits.ts";
import type { RunServices } from "../services.ts";

/** Lines the guest prints about itself; see docs/artifacts.md. */
const GUEST_PREFIX = "guardloop guest: ";

/**
 * Writes down what comes out of the container as it comes: every byte to `agent.log`, and what the agent's adapter
 * understands to `agent.jsonl`, one event a line. Both are bounded; what is beyond is dropped and said once.
 */
export async function agentRecorder(services: RunServices, runId: string) {
  const log = await open(services.paths.agentLog, "a", 0o600);
  const events = await open(services.paths.agentEvents, "a", 0o600);
  const parse = services.adapter.parser();
  let written = 0;
  let rest = "";
  // A character may lie across two chunks.
  const decoder = new StringDecoder("utf8");
  // Writes are chained, so that the files have the order in which the output came.
  let pending: Promise<unknown> = Promise.resolve();
  let told = false;
  const tellOnce = (error: unknown): void => {
    const fault = hostFault(error);
    if (fault === undefined) throw error;
    if (!told)
      services.report({
        type: "notice",
        runId,
        text: `The agent's log has gaps: ${fault.message}`,
      });
    told = true;
  };
  const write = (file: typeof log, text: string | Buffer): void => {
    // A full disk costs the log, not the run: the agent's work is elsewhere.
    pending = pending.then(() => file.appendFile(text)).catch(tellOnce);
  };
  const line = (text: string): void => {
    if (text.startsWith(GUEST_PREFIX)) return;
    const at = services.now().toISOString();
    const understood = parse(text);
    for (const event of understood) services.report({ type: "agent-event", runId, at, event });
    const lines = understood.map((event) => `${JSON.stringify({ at, ...event })}\n`);
    if (lines.length > 0) write(events, lines.join(""));
  };
  return {
    add(stream: "stdout" | "stderr", chunk: Buffer): void {
      services.report({ type: "agent-output", runId, chunk });
      if (written > LIMITS.agentLogBytes) return;
      written += chunk.length;
      write(log, chunk);
      if (written > LIMITS.agentLogBytes)
        write(log, "\n[guardloop: the log is full, later output was dropped]\n");
      if (stream !== "stdout") return;
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = (lines.pop() ?? "").slice(0, LIMITS.agentLineBytes);
      for (const text of lines) line(text.slice(0, LIMITS.agentLineBytes));
    },
    async [Symbol.asyncDispose](): Promise<void> {
      if (rest !== "") line(rest);
      await pending;
      await log.close();
      await events.close();
    },
  };
}
