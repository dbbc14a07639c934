import { remember } from "./bounded-map.ts";
import { type SaysErrorsAgain, causeInWords, errorOnce } from "./error-cause.ts";
import {
  type Fields,
  countField,
  fieldsField,
  objectOnLine,
  textField,
  typeOf,
} from "./json-fields.ts";
import type { PendingTool } from "./pending-tool.ts";
import type { AgentEvent } from "./port.ts";

interface State extends SaysErrorsAgain {
  readonly pending: Map<string, PendingTool>;
  /** Words of the model that came in pieces. */
  words: string;
}

/** Pieces of one message that are put together; more than this is told as several. */
const LONGEST_MESSAGE = 64 * 1024;
const FILE_TOOLS: ReadonlySet<string> = new Set(["write_file", "replace"]);

/**
 * Parser of `gemini --output-format stream-json`, a JSON object a line. Source of the shapes: the published program, and
 * recorded streams of 0.61.
 */
export function geminiParser(): (line: string) => readonly AgentEvent[] {
  const state: State = { pending: new Map(), words: "", lastError: undefined };
  return (line) => {
    const event = objectOnLine(line);
    if (event === undefined) return [...spoken(state), { type: "output", text: line }];
    if (typeOf(event) === "message") return message(event, state);
    return [...spoken(state), ...(eventsOf(event, state) ?? [{ type: "output", text: line }])];
  };
}

function message(event: Fields, state: State): readonly AgentEvent[] {
  // What it was told is known.
  if (textField(event, "role") !== "assistant") return [];
  state.words += textField(event, "content") ?? "";
  return event["delta"] === true && state.words.length < LONGEST_MESSAGE ? [] : spoken(state);
}

/** The message that is complete when something else comes. */
function spoken(state: State): readonly AgentEvent[] {
  const text = state.words;
  state.words = "";
  return text === "" ? [] : [{ type: "message", text }];
}

/** Undefined for an event that is not known: the line is then kept as it is. */
function eventsOf(event: Fields, state: State): readonly AgentEvent[] | undefined {
  switch (typeOf(event)) {
    case "init":
      return [
        {
          type: "session",
          id: textField(event, "session_id") ?? "",
          model: textField(event, "model") ?? null,
        },
      ];
    case "tool_use":
      return toolUse(event, state);
    case "tool_result":
      return toolResult(event, state);
    case "error":
      return error(textField(event, "message"), state);
    case "result":
      return result(event, state);
    default:
      return undefined;
  }
}

function toolUse(event: Fields, state: State): readonly AgentEvent[] {
  const id = textField(event, "tool_id") ?? "";
  const name = textField(event, "tool_name") ?? "";
  const parameters = fieldsField(event, "parameters");
  const shellCommand = textField(parameters, "command");
  const path = textField(parameters, "file_path");
  if (name === "run_shell_command" && shellCommand !== undefined) {
    remember(state.pending, id, { kind: "shell" });
    return [{ type: "command", command: shellCommand }];
  }
  if (FILE_TOOLS.has(name) && path !== undefined) {
    // Told when it has happened.
    remember(state.pending, id, { kind: "file", path });
    return [];
  }
  remember(state.pending, id, { kind: "other" });
  return [{ type: "command", command: `${name} ${JSON.stringify(parameters ?? {})}` }];
}

function toolResult(event: Fields, state: State): readonly AgentEvent[] {
  const id = textField(event, "tool_id") ?? "";
  const pending = state.pending.get(id);
  state.pending.delete(id);
  const failed = textField(event, "status") === "error";
  const output =
    textField(event, "output") ?? textField(fieldsField(event, "error"), "message") ?? "";
  if (pending?.kind === "shell")
    return [{ type: "command-result", exitCode: exitCodeIn(output), output }];
  if (failed) return [{ type: "command-result", exitCode: null, output }];
  // It does not tell a new file from a changed one.
  return pending?.kind === "file"
    ? [{ type: "file-change", path: pending.path, change: "update" }]
    : [];
}

/** A failed command is no failed tool to the program; its status stands in the words, where it had no output. */
function exitCodeIn(output: string): number | null {
  const digits = /^Command exited with code: (\d{1,3})\b/.exec(output)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Every new attempt and the result repeat what went wrong. */
function error(text: string | undefined, state: State): readonly AgentEvent[] | undefined {
  if (text === undefined) return undefined;
  return errorOnce(text, state, causeOf(text));
}

/** Of a limit the program says so in words of its own; a key that is not valid has the status 400 and says so in the API's. */
function causeOf(text: string) {
  if (text.includes("Please wait and try again later. To increase your limits"))
    return "rate-limit";
  if (/API_KEY_INVALID|API key not valid/.test(text)) return "authentication";
  return causeInWords(text, /\b(?:code|status)\W{1,4}(\d{3})\b/);
}

function result(event: Fields, state: State): readonly AgentEvent[] {
  const stats = fieldsField(event, "stats");
  const failed = textField(event, "status") !== "success";
  const text = textField(fieldsField(event, "error"), "message") ?? "The session failed.";
  return [
    ...(failed ? (error(text, state) ?? []) : []),
    {
      type: "usage",
      inputTokens: countField(stats, "input_tokens"),
      cachedInputTokens: countField(stats, "cached"),
      outputTokens: countField(stats, "output_tokens"),
      costUsd: null,
    },
  ];
}
