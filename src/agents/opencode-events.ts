import { causeOfStatus, errorEvent } from "./error-cause.ts";
import {
  type Fields,
  countField,
  fieldsField,
  listField,
  objectOnLine,
  sumOfCounts,
  textField,
  typeOf,
} from "./json-fields.ts";
import type { AgentEvent } from "./port.ts";

type Usage = Extract<AgentEvent, { type: "usage" }>;

interface State {
  session: string | undefined;
  /** Over the steps of the turn. */
  used: Usage;
}

const NOTHING_USED: Usage = {
  type: "usage",
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: null,
};
const FILE_TOOLS: ReadonlySet<string> = new Set(["write", "edit"]);

/**
 * Parser of `opencode run --format json`, a JSON object a line. Source of the shapes: the published program, and recorded
 * streams of 1.18.
 */
export function opencodeParser(): (line: string) => readonly AgentEvent[] {
  const state: State = { session: undefined, used: NOTHING_USED };
  return (line) => {
    const event = objectOnLine(line);
    const known = event && eventsOf(event, state);
    if (event === undefined || known === undefined) return [{ type: "output", text: line }];
    return [...session(event, state), ...known];
  };
}

/** Every event names it; there is none that begins it, and none that names the model. */
function session(event: Fields, state: State): readonly AgentEvent[] {
  const id = textField(event, "sessionID");
  if (id === undefined || id === state.session) return [];
  state.session = id;
  return [{ type: "session", id, model: null }];
}

/** Undefined for an event that is not known: the line is then kept as it is. */
function eventsOf(event: Fields, state: State): readonly AgentEvent[] | undefined {
  const part = fieldsField(event, "part");
  switch (typeOf(event)) {
    case "text":
      return [{ type: "message", text: textField(part, "text") ?? "" }];
    case "reasoning":
      return [{ type: "thinking", text: textField(part, "text") ?? "" }];
    case "tool_use":
      return toolUse(part);
    case "step_start":
      return [];
    case "step_finish":
      return stepFinish(part, state);
    case "error":
      return error(fieldsField(event, "error"));
    default:
      return undefined;
  }
}

/** Told when the tool has ended. */
function toolUse(part: Fields | undefined): readonly AgentEvent[] {
  const name = textField(part, "tool") ?? "";
  const toolState = fieldsField(part, "state");
  const input = fieldsField(toolState, "input");
  const failed = textField(toolState, "status") === "error";
  const changed = failed ? undefined : changedFiles(name, toolState);
  if (changed !== undefined) return changed;
  const shellCommand = name === "bash" ? textField(input, "command") : undefined;
  const command = shellCommand ?? `${name} ${JSON.stringify(input ?? {})}`;
  const called: AgentEvent = { type: "command", command };
  if (shellCommand === undefined && !failed) return [called];
  return [called, ended(toolState, failed)];
}

/** Undefined for a tool that changes none. */
function changedFiles(
  name: string,
  toolState: Fields | undefined,
): readonly AgentEvent[] | undefined {
  if (name === "apply_patch") return patched(toolState);
  const path = textField(fieldsField(toolState, "input"), "filePath");
  if (!FILE_TOOLS.has(name) || path === undefined) return undefined;
  return [{ type: "file-change", path, change: isNew(toolState) ? "add" : "update" }];
}

/** Models of OpenAI's change files by patches. */
function patched(toolState: Fields | undefined): readonly AgentEvent[] {
  return listField(fieldsField(toolState, "metadata"), "files").map((file) => ({
    type: "file-change",
    path: textField(file, "filePath") ?? "",
    change: textField(file, "type") ?? "update",
  }));
}

function ended(toolState: Fields | undefined, failed: boolean): AgentEvent {
  const output = textField(toolState, failed ? "error" : "output") ?? "";
  return { type: "command-result", exitCode: failed ? null : exitCode(toolState), output };
}

function exitCode(toolState: Fields | undefined): number | null {
  const code = fieldsField(toolState, "metadata")?.["exit"];
  return Number.isSafeInteger(code) ? Number(code) : null;
}

function isNew(toolState: Fields | undefined): boolean {
  return fieldsField(toolState, "metadata")?.["exists"] === false;
}

/** A turn has a step for each answer of the model; its usage is told with the last one. */
function stepFinish(part: Fields | undefined, state: State): readonly AgentEvent[] {
  const tokens = fieldsField(part, "tokens");
  const cache = fieldsField(tokens, "cache");
  const cached = countField(cache, "read");
  const { used } = state;
  state.used = {
    type: "usage",
    // It counts what was read from the cache or written to it apart, and reasoning too.
    inputTokens: sumOfCounts(
      used.inputTokens,
      countField(tokens, "input"),
      countField(cache, "write"),
      cached,
    ),
    cachedInputTokens: sumOfCounts(used.cachedInputTokens, cached),
    outputTokens: sumOfCounts(
      used.outputTokens,
      countField(tokens, "output"),
      countField(tokens, "reasoning"),
    ),
    costUsd: added(used.costUsd, part?.["cost"]),
  };
  if (textField(part, "reason") === "tool-calls") return [];
  const told = state.used;
  state.used = NOTHING_USED;
  return [told];
}

/** A model whose price it does not know costs 0 to it. */
function added(before: number | null, cost: unknown): number | null {
  if (typeof cost !== "number" || !Number.isFinite(cost) || cost <= 0) return before;
  return Math.min((before ?? 0) + cost, Number.MAX_VALUE);
}

function error(fields: Fields | undefined): readonly AgentEvent[] {
  const data = fieldsField(fields, "data");
  const text = textField(data, "message") ?? textField(fields, "name") ?? "The session failed.";
  return [errorEvent(text, causeOfStatus(data?.["statusCode"]))];
}
