import { remember } from "./bounded-map.ts";
import { type SaysErrorsAgain, causeInWords, errorOnce } from "./error-cause.ts";
import {
  type Fields,
  countField,
  fieldsField,
  listField,
  objectOnLine,
  textField,
  typeOf,
} from "./json-fields.ts";
import type { AgentEvent } from "./port.ts";

interface State extends SaysErrorsAgain {
  /** Commands whose start was seen, by item id. */
  readonly started: Map<string, true>;
}

/**
 * Parser of `codex exec --json`, a JSON object a line. Source of the shapes: exec_events.rs in openai/codex, and
 * recorded streams of 0.171.
 */
export function codexParser(): (line: string) => readonly AgentEvent[] {
  const state: State = { started: new Map(), lastError: undefined };
  return (line) => {
    const event = objectOnLine(line);
    return (event && eventsOf(event, state)) ?? [{ type: "output", text: line }];
  };
}

/** Undefined for an event that is not known: the line is then kept as it is. */
function eventsOf(event: Fields, state: State): readonly AgentEvent[] | undefined {
  switch (typeOf(event)) {
    case "thread.started":
      return [{ type: "session", id: textField(event, "thread_id") ?? "", model: null }];
    case "turn.started":
    case "item.updated":
      return [];
    case "turn.completed":
      return [usage(fieldsField(event, "usage"))];
    case "turn.failed":
      return error(textField(fieldsField(event, "error"), "message"), state);
    case "error":
      return error(textField(event, "message"), state);
    case "item.started":
      return itemStarted(fieldsField(event, "item"), state);
    case "item.completed":
      return itemCompleted(fieldsField(event, "item"), state);
    default:
      return undefined;
  }
}

function usage(fields: Fields | undefined): AgentEvent {
  return {
    type: "usage",
    inputTokens: countField(fields, "input_tokens"),
    cachedInputTokens: countField(fields, "cached_input_tokens"),
    outputTokens: countField(fields, "output_tokens"),
    costUsd: null,
  };
}

/** A failed turn repeats the error that ended it. */
function error(message: string | undefined, state: State): readonly AgentEvent[] | undefined {
  if (message === undefined) return undefined;
  return errorOnce(message, state, causeInWords(message, /\bstatus:? (\d{3})\b/));
}

function itemStarted(item: Fields | undefined, state: State): readonly AgentEvent[] | undefined {
  if (item === undefined) return undefined;
  const command = commandOf(item);
  if (command === undefined) return [];
  remember(state.started, textField(item, "id") ?? "", true);
  return [{ type: "command", command }];
}

function itemCompleted(item: Fields | undefined, state: State): readonly AgentEvent[] | undefined {
  switch (typeOf(item)) {
    case "agent_message":
      return [{ type: "message", text: textField(item, "text") ?? "" }];
    case "reasoning":
      return [{ type: "thinking", text: textField(item, "text") ?? "" }];
    case "error":
      return error(textField(item, "message"), state);
    case "file_change":
      return fileChanges(item);
    case "todo_list":
      return [];
    default:
      return item && commandCompleted(item, state);
  }
}

function commandCompleted(item: Fields, state: State): readonly AgentEvent[] | undefined {
  const command = commandOf(item);
  if (command === undefined) return undefined;
  // An item may complete without having been announced.
  const announced = state.started.delete(textField(item, "id") ?? "");
  const before: AgentEvent[] = announced ? [] : [{ type: "command", command }];
  if (typeOf(item) !== "command_execution") return before;
  const exitCode = item["exit_code"];
  return [
    ...before,
    {
      type: "command-result",
      exitCode: Number.isSafeInteger(exitCode) ? Number(exitCode) : null,
      output: textField(item, "aggregated_output") ?? "",
    },
  ];
}

/** What an item runs, for people; undefined when it runs nothing. */
function commandOf(item: Fields): string | undefined {
  switch (typeOf(item)) {
    case "command_execution":
      return textField(item, "command");
    case "web_search":
      return `web_search ${textField(item, "query") ?? ""}`;
    case "mcp_tool_call":
      return `${textField(item, "server") ?? "mcp"}.${textField(item, "tool") ?? ""}`;
    case "collab_tool_call":
      return textField(item, "tool") ?? "collab_tool_call";
    default:
      return undefined;
  }
}

function fileChanges(item: Fields | undefined): readonly AgentEvent[] {
  const changes = listField(item, "changes");
  const paths = changes.map((change) => textField(change, "path") ?? "");
  if (textField(item, "status") === "failed")
    return [{ type: "error", text: `A change of files failed: ${paths.join(", ")}` }];
  return changes.map((change, index) => ({
    type: "file-change",
    path: paths[index] ?? "",
    change: textField(change, "kind") ?? "update",
  }));
}
