import { remember } from "./bounded-map.ts";
import { type SaysErrorsAgain, causeInWords, causeOfStatus, errorOnce } from "./error-cause.ts";
import {
  type Fields,
  asFields,
  countField,
  fieldsField,
  listField,
  objectOnLine,
  sumOfCounts,
  textField,
  typeOf,
} from "./json-fields.ts";
import type { PendingTool } from "./pending-tool.ts";
import type { AgentEvent } from "./port.ts";

interface State extends SaysErrorsAgain {
  readonly pending: Map<string, PendingTool>;
  session: string | undefined;
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);

/**
 * Parser of `claude -p --output-format stream-json --verbose`, a JSON object a line. Source of the shapes: the SDK's
 * message types in Anthropic's documentation, and recorded streams of 2.1.
 */
export function claudeParser(): (line: string) => readonly AgentEvent[] {
  const state: State = { pending: new Map(), session: undefined, lastError: undefined };
  return (line) => {
    const event = objectOnLine(line);
    return (event && eventsOf(event, state)) ?? [{ type: "output", text: line }];
  };
}

/** Undefined for an event that is not known: the line is then kept as it is. */
function eventsOf(event: Fields, state: State): readonly AgentEvent[] | undefined {
  switch (typeOf(event)) {
    case "system":
      return system(event, state);
    case "assistant":
      return blocksOf(event).flatMap((block) => assistantBlock(block, event, state));
    case "user":
      return blocksOf(event).flatMap((block) => toolResult(block, event, state));
    case "result":
      return result(event, state);
    // Progress of the program itself.
    case "stream_event":
    case "rate_limit_event":
    case "tool_progress":
      return [];
    default:
      return undefined;
  }
}

function blocksOf(event: Fields): readonly Fields[] {
  return listField(fieldsField(event, "message"), "content");
}

function system(event: Fields, state: State): readonly AgentEvent[] {
  const subtype = textField(event, "subtype");
  if (subtype === "api_retry") {
    const status = event["error_status"];
    const what = textField(event, "error") ?? "no answer";
    const told = `The model API failed (${typeof status === "number" ? `${status} ` : ""}${what}); trying again.`;
    return error(told, state, causeOfStatus(status));
  }
  if (subtype !== "init") return [];
  const id = textField(event, "session_id") ?? "";
  // Announced again for every turn of the same session.
  if (id === state.session) return [];
  state.session = id;
  return [{ type: "session", id, model: textField(event, "model") ?? null }];
}

/** The last message, the result and every new attempt repeat what went wrong. */
function error(
  text: string,
  state: State,
  cause = causeInWords(text, /\bAPI Error: (?:Request rejected \()?(\d{3})\b/),
): readonly AgentEvent[] {
  return errorOnce(text, state, cause);
}

function assistantBlock(block: Fields, event: Fields, state: State): readonly AgentEvent[] {
  switch (typeOf(block)) {
    case "text": {
      const text = textField(block, "text") ?? "";
      // Words the program puts in the model's mouth, for example when nobody is logged in.
      if (textField(fieldsField(event, "message"), "model") === "<synthetic>")
        return error(text, state);
      return [{ type: "message", text }];
    }
    case "thinking":
      return [{ type: "thinking", text: textField(block, "thinking") ?? "" }];
    case "tool_use":
      return toolUse(block, state);
    default:
      return [];
  }
}

function toolUse(block: Fields, state: State): readonly AgentEvent[] {
  const id = textField(block, "id") ?? "";
  const name = textField(block, "name") ?? "";
  const input = fieldsField(block, "input");
  const path = textField(input, "file_path") ?? textField(input, "notebook_path");
  const shellCommand = textField(input, "command");
  if (name === "Bash" && shellCommand !== undefined) {
    remember(state.pending, id, { kind: "shell" });
    return [{ type: "command", command: shellCommand }];
  }
  if (FILE_TOOLS.has(name) && path !== undefined) {
    // Told when it has happened.
    remember(state.pending, id, { kind: "file", path });
    return [];
  }
  remember(state.pending, id, { kind: "other" });
  return [{ type: "command", command: `${name} ${JSON.stringify(input ?? {})}` }];
}

function toolResult(block: Fields, event: Fields, state: State): readonly AgentEvent[] {
  if (typeOf(block) !== "tool_result") return [];
  const id = textField(block, "tool_use_id") ?? "";
  const pending = state.pending.get(id);
  state.pending.delete(id);
  const output = textOf(block["content"]);
  const failed = block["is_error"] === true;
  if (pending?.kind === "shell")
    return [{ type: "command-result", exitCode: failed ? exitCodeIn(output) : 0, output }];
  if (failed) return [{ type: "command-result", exitCode: null, output }];
  if (pending?.kind !== "file") return [];
  const isNew = textField(fieldsField(event, "tool_use_result"), "type") === "create";
  return [{ type: "file-change", path: pending.path, change: isNew ? "add" : "update" }];
}

/** The program gives the status of a failed command only in words. */
function exitCodeIn(output: string): number | null {
  const digits = /^Exit code (\d{1,3})\b/.exec(output)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Content of a tool result: a string, or blocks of which some are text. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((block) => textField(asFields(block), "text") ?? []).join("\n");
}

function result(event: Fields, state: State): readonly AgentEvent[] {
  const usage = fieldsField(event, "usage");
  const cost = event["total_cost_usd"];
  const cached = countField(usage, "cache_read_input_tokens");
  const failed = event["is_error"] === true || textField(event, "subtype") !== "success";
  const text = textField(event, "result") ?? textField(event, "subtype") ?? "The session failed.";
  return [
    ...(failed ? error(text, state, causeOfStatus(event["api_error_status"])) : []),
    {
      type: "usage",
      // The API counts what was read from the cache or written to it apart.
      inputTokens: sumOfCounts(
        countField(usage, "input_tokens"),
        countField(usage, "cache_creation_input_tokens"),
        cached,
      ),
      cachedInputTokens: cached,
      outputTokens: countField(usage, "output_tokens"),
      costUsd: typeof cost === "number" && Number.isFinite(cost) && cost >= 0 ? cost : null,
    },
  ];
}
