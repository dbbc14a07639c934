import { StringDecoder } from "node:string_decoder";
import type { AgentEvent } from "../../agents/port.ts";
import { LIMITS } from "../../core/limits.ts";
import type { MissingLog, RunSpec } from "../../core/run-spec.ts";
import { type LogLoss, boundedLog } from "../logs/bounded-log.ts";
import { TEXT_MARK, jsonMark } from "../logs/cut-mark.ts";
import { redactorInUse } from "../logs/redactions-in-use.ts";
import type { RunServices } from "../services.ts";
import { eventLine } from "./event-line.ts";

/** Lines the guest prints about itself; see docs/artifacts.md. */
const GUEST_PREFIX = "guardloop guest: ";

/**
 * Writes down what comes out of the container as it comes: the bytes to `agent.log`, and what the agent's adapter
 * understands to `agent.jsonl`, one event a line. Credentials in use are taken out before anything is written, parsed or
 * told. Both files are bounded. Nothing here makes the agent wait or ends the run: what a slow or full disk does not
 * take is dropped, marked and counted.
 */
export async function agentRecorder(services: RunServices, spec: RunSpec) {
  const { runId } = spec;
  const limitBytes = spec.limits.logBytes ?? LIMITS.agentLogBytes;
  const redactor = await redactorInUse(services, spec);
  const onTrouble = troubleTeller(services, runId);
  const { agentLog, agentEvents } = services.paths;
  const log = boundedLog({ path: agentLog, limitBytes, mark: TEXT_MARK, onTrouble });
  const mark = jsonMark(services.now);
  const events = boundedLog({ path: agentEvents, limitBytes, mark, onTrouble });
  const cleaned = { stdout: redactor.stream(), stderr: redactor.stream() };
  const parse = services.adapter.parser();
  /** Of the chunk that is looked at, and the lines that come of it: much is printed in one moment. */
  let at = "";
  let recorded: string[] = [];
  const record = (event: AgentEvent): void => {
    services.report({ type: "agent-event", runId, at, event });
    recorded.push(eventLine({ at, ...event }, limitBytes));
  };
  const lines = lineSplitter((text) => {
    if (text.startsWith(GUEST_PREFIX)) return;
    // Again: an escape of JSON can hide a value that is plain in the event. A line as it came is clean.
    for (const event of parse(text))
      record(event.type === "output" && event.text === text ? event : redactor.data(event));
  });
  const inOneGo = (work: () => void): void => {
    at = services.now().toISOString();
    work();
    if (recorded.length > 0) events.add(recorded.join(""));
    recorded = [];
  };
  const take = (stream: "stdout" | "stderr", clean: Buffer): void => {
    if (clean.length === 0) return;
    services.report({ type: "agent-output", runId, chunk: clean });
    log.add(clean);
    if (stream === "stdout") inOneGo(() => lines.add(clean));
  };
  let isOver = false;
  return {
    add(stream: "stdout" | "stderr", chunk: Buffer): void {
      take(stream, cleaned[stream].add(chunk));
    },
    /** To be called when nothing more comes; may be called twice. Undefined where nothing is missing. */
    async finish(): Promise<MissingLog | undefined> {
      if (!isOver) {
        isOver = true;
        take("stdout", cleaned.stdout.end());
        take("stderr", cleaned.stderr.end());
        inOneGo(() => lines.end());
      }
      await Promise.all([log.settle(), events.settle()]);
      return missing(log.loss(), events.loss());
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await this.finish();
      await log[Symbol.asyncDispose]();
      await events[Symbol.asyncDispose]();
    },
  };
}

/** Whichever of the two logs is in trouble first says so; the other one is on the same disk. */
function troubleTeller(services: RunServices, runId: string): (reason: string) => void {
  let isTold = false;
  return (reason) => {
    if (isTold) return;
    isTold = true;
    const text = `The log of the agent cannot be written (${reason}); the run goes on, and what the agent prints meanwhile is lost. Look at the disk of ${services.env.stateDir}.`;
    services.report({ type: "notice", runId, text });
  };
}

function missing(...losses: readonly LogLoss[]): MissingLog | undefined {
  const sum = (of: (loss: LogLoss) => number): number =>
    losses.reduce((all, loss) => all + of(loss), 0);
  const cutBytes = sum((loss) => loss.cut);
  const lostBytes = sum((loss) => loss.dropped + loss.unwritten);
  const problem = losses.find((loss) => loss.reason !== null)?.reason ?? null;
  return cutBytes === 0 && lostBytes === 0 ? undefined : { cutBytes, lostBytes, problem };
}

/** Gives out whole lines, without their ends and shortened where they are too long. */
function lineSplitter(onLine: (text: string) => void) {
  // A character may lie across two chunks.
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return {
    add(chunk: Buffer): void {
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = (lines.pop() ?? "").slice(0, LIMITS.agentLineBytes);
      for (const text of lines) onLine(text.slice(0, LIMITS.agentLineBytes));
    },
    end(): void {
      if (rest !== "") onLine(rest);
    },
  };
}
