import type { AgentEvent } from "../../agents/port.ts";

/** One thing the agent did, in one line; untrusted text, to be escaped when shown. */
export interface Action {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly type: AgentEvent["type"];
  readonly text: string;
}

export interface Tokens {
  /** Includes those read from the cache. */
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

/** What an agent has done so far, as its events tell it. */
export interface Activity {
  /** The newest last; bounded. */
  readonly actions: readonly Action[];
  /** How many there were, also those that are not kept. */
  readonly count: number;
  /** Null until the agent has told them, which some do only at their end. */
  readonly tokens: Tokens | null;
}

const KEPT_ACTIONS = 50;
const TEXT_LENGTH = 300;

export const NO_ACTIVITY: Activity = { actions: [], count: 0, tokens: null };

/** Adds an event. Pure. */
export function withEvent(activity: Activity, at: string, event: AgentEvent): Activity {
  if (event.type === "usage") {
    const before = activity.tokens ?? { input: 0, cachedInput: 0, output: 0 };
    const tokens = {
      input: before.input + event.inputTokens,
      cachedInput: before.cachedInput + event.cachedInputTokens,
      output: before.output + event.outputTokens,
    };
    return { ...activity, tokens };
  }
  const text = firstLine(inWords(event));
  if (text === "") return activity;
  const actions = [...activity.actions, { at, type: event.type, text }].slice(-KEPT_ACTIONS);
  return { ...activity, actions, count: activity.count + 1 };
}

/** An event in words; empty where it says nothing to a person. */
function inWords(event: Exclude<AgentEvent, { type: "usage" }>): string {
  switch (event.type) {
    case "session":
      return event.model === null ? "session begins" : `session begins, model ${event.model}`;
    case "message":
    case "output":
      return event.text;
    case "thinking":
      return event.text.trim() === "" ? "" : `thinks: ${event.text.trimStart()}`;
    case "command":
      return `$ ${event.command.trimStart()}`;
    case "command-result":
      return resultInWords(event);
    case "file-change":
      return `${event.change} ${event.path}`;
    case "error":
      return `error: ${event.text}`;
  }
}

function resultInWords(event: Extract<AgentEvent, { type: "command-result" }>): string {
  const status = event.exitCode === null ? "ended" : `exit ${event.exitCode}`;
  const last = event.output.trimEnd().split("\n").at(-1) ?? "";
  return last.trim() === "" ? status : `${status}: ${last.trim()}`;
}

function firstLine(text: string): string {
  const line = text.split(/\r?\n/).find((one) => one.trim() !== "") ?? "";
  return line.trim().slice(0, TEXT_LENGTH);
}
