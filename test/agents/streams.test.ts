import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { agentAdapter } from "../../src/agents/registry.ts";
import type { AgentEvent } from "../../src/agents/port.ts";
import { linesOf } from "./container-task.ts";

type Hosted = "codex" | "claude" | "gemini" | "opencode";

function eventsOfFixture(name: Hosted, fixture: string): readonly AgentEvent[] {
  const text = readFileSync(new URL(`fixtures/${name}-${fixture}.jsonl`, import.meta.url), "utf8");
  return parse(name, linesOf(text));
}

function parse(name: Hosted | "command", lines: readonly string[]) {
  const parser = agentAdapter(name).parser();
  return lines.flatMap((text) => parser(text));
}

function line(value: unknown): string {
  return JSON.stringify(value);
}

/** A tool that Claude Code starts, and its result. */
function use(name: string, input: unknown): string {
  const block = { type: "tool_use", id: "t", name, input };
  return line({ type: "assistant", message: { content: [block] } });
}

function answer(content: unknown, isError: boolean): string {
  const block = { type: "tool_result", tool_use_id: "t", content, is_error: isError };
  return line({ type: "user", message: { content: [block] } });
}

describe("a recorded stream of Codex", () => {
  test("of a whole task", () => {
    expect(eventsOfFixture("codex", "task")).toEqual([
      { type: "session", id: "01a2285e-60ea-74d2-b778-738e3993da78", model: null },
      { type: "thinking", text: "First look." },
      { type: "message", text: "I look at the file." },
      { type: "command", command: "/usr/bin/bash -lc 'cat greeting.txt'" },
      { type: "command-result", exitCode: 0, output: "old\n" },
      { type: "file-change", path: "/workspace/notes.md", change: "add" },
      { type: "command", command: "/usr/bin/bash -lc 'echo broken; exit 3'" },
      { type: "command-result", exitCode: 3, output: "broken\n" },
      { type: "message", text: "All done." },
      {
        type: "usage",
        inputTokens: 400,
        cachedInputTokens: 160,
        outputTokens: 40,
        costUsd: null,
      },
    ]);
  });

  test("of a run whose key is refused tells every attempt, and the end once", () => {
    const errors = eventsOfFixture("codex", "refused").filter((event) => event.type === "error");

    expect(errors).toHaveLength(6);
    expect(errors[0]?.text).toContain("Reconnecting... 1/5");
    expect(errors[5]?.text).toContain("401 Unauthorized: The key is not valid.");
  });
});

describe("a recorded stream of Claude Code", () => {
  test("of a whole task", () => {
    expect(eventsOfFixture("claude", "task")).toEqual([
      {
        type: "session",
        id: "45e406df-05e2-4f93-8178-4176cf5a4a4f",
        model: "claude-sonnet-5-5",
      },
      { type: "thinking", text: "First look." },
      { type: "message", text: "I look at the file." },
      { type: "command", command: "cat greeting.txt" },
      { type: "command-result", exitCode: 0, output: "old" },
      { type: "file-change", path: "/workspace/notes.md", change: "add" },
      { type: "command", command: "echo broken; exit 3" },
      { type: "command-result", exitCode: 3, output: "Exit code 3\nbroken" },
      { type: "message", text: "All done." },
      {
        type: "usage",
        // 400 fresh and 160 from the cache.
        inputTokens: 560,
        cachedInputTokens: 160,
        outputTokens: 40,
        costUsd: 0.001216,
      },
    ]);
  });

  test("of a run whose key is refused tells the failing API once, and the end once", () => {
    expect(eventsOfFixture("claude", "refused").slice(1)).toEqual([
      {
        type: "error",
        text: "The model API failed (401 authentication_failed); trying again.",
        cause: "authentication",
      },
      {
        type: "error",
        text: "Failed to authenticate. API Error: 401 The key is not valid.",
        cause: "authentication",
      },
      { type: "usage", inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 },
    ]);
  });
});

const TASK_OF_TWO: readonly AgentEvent[] = [
  { type: "message", text: "I look at the file." },
  { type: "command", command: "cat greeting.txt" },
];

describe("a recorded stream of Gemini CLI", () => {
  test("of a whole task", () => {
    expect(eventsOfFixture("gemini", "task")).toEqual([
      { type: "session", id: "7482b38b-1364-4b7b-a44b-888d27ca9404", model: "auto" },
      ...TASK_OF_TWO,
      { type: "command-result", exitCode: null, output: "old" },
      { type: "file-change", path: "/workspace/notes.md", change: "update" },
      { type: "command", command: "exit 3" },
      { type: "command-result", exitCode: 3, output: "Command exited with code: 3" },
      { type: "message", text: "All done." },
      { type: "usage", inputTokens: 500, cachedInputTokens: 200, outputTokens: 50, costUsd: null },
    ]);
  });

  test("of a run whose key is refused", () => {
    expect(eventsOfFixture("gemini", "refused")[1]).toEqual({
      type: "error",
      text: expect.stringContaining("The key is not valid."),
      cause: "authentication",
    });
  });

  test("what comes in pieces is one message, and a limit is told by the program's own words", () => {
    const piece = (content: string) =>
      line({ type: "message", role: "assistant", delta: true, content });
    const message =
      "[API Error: slow]\nPlease wait and try again later. To increase your limits, …";
    const end = line({ type: "result", status: "error", error: { message }, stats: {} });

    expect(parse("gemini", [piece("I "), piece("look."), end]).slice(0, 2)).toEqual([
      { type: "message", text: "I look." },
      { type: "error", text: message, cause: "rate-limit" },
    ]);
  });
});

describe("a recorded stream of opencode", () => {
  test("of a whole task", () => {
    expect(eventsOfFixture("opencode", "task")).toEqual([
      { type: "session", id: expect.stringMatching(/^ses_/), model: null },
      { type: "thinking", text: "First look." },
      ...TASK_OF_TWO,
      { type: "command-result", exitCode: 0, output: "old\n" },
      { type: "file-change", path: "/workspace/notes.md", change: "add" },
      { type: "command", command: "exit 3" },
      { type: "command-result", exitCode: 3, output: expect.any(String) },
      { type: "message", text: "All done." },
      { type: "usage", inputTokens: 400, cachedInputTokens: 160, outputTokens: 40, costUsd: null },
    ]);
  });

  test("of a run whose key is refused", () => {
    expect(eventsOfFixture("opencode", "refused").at(-1)).toEqual({
      type: "error",
      text: "The key is not valid.",
      cause: "authentication",
    });
  });

  test("a tool that failed says why, and a patch names its files", () => {
    const tool = (name: string, state: unknown) =>
      line({ type: "tool_use", sessionID: "s", part: { tool: name, state } });
    const files = [{ filePath: "/workspace/a", type: "delete" }];

    expect(
      parse("opencode", [
        tool("edit", { status: "error", input: { filePath: "a" }, error: "No such text." }),
        tool("apply_patch", { status: "completed", input: {}, metadata: { files } }),
      ]),
    ).toEqual([
      { type: "session", id: "s", model: null },
      { type: "command", command: 'edit {"filePath":"a"}' },
      { type: "command-result", exitCode: null, output: "No such text." },
      { type: "file-change", path: "/workspace/a", change: "delete" },
    ]);
  });
});

describe("Codex lines that the recordings do not have", () => {
  test("a command that completes without having been announced is announced", () => {
    const item = { id: "i", type: "command_execution", command: "ls", exit_code: null };

    expect(parse("codex", [line({ type: "item.completed", item })])).toEqual([
      { type: "command", command: "ls" },
      { type: "command-result", exitCode: null, output: "" },
    ]);
  });

  test("a failed change of files is an error, and changed files come one by one", () => {
    const changes = [
      { path: "a", kind: "delete" },
      { path: "b", kind: "update" },
    ];
    const completed = (status: string) =>
      line({ type: "item.completed", item: { id: "i", type: "file_change", changes, status } });

    expect(parse("codex", [completed("failed"), completed("completed")])).toEqual([
      { type: "error", text: "A change of files failed: a, b" },
      { type: "file-change", path: "a", change: "delete" },
      { type: "file-change", path: "b", change: "update" },
    ]);
  });

  test("a web search and a tool of a server are commands", () => {
    const items = [
      { id: "1", type: "web_search", query: "guard" },
      { id: "2", type: "mcp_tool_call", server: "docs", tool: "find" },
    ];

    const lines = items.map((item) => line({ type: "item.completed", item }));
    expect(parse("codex", lines)).toEqual([
      { type: "command", command: "web_search guard" },
      { type: "command", command: "docs.find" },
    ]);
  });
});

describe("Claude Code lines that the recordings do not have", () => {
  test("another tool is a command; only its failure is told", () => {
    const read = use("Read", { file_path: "a" });
    const text = [{ type: "text", text: "No such file." }];

    expect(parse("claude", [read, answer("content", false), read, answer(text, true)])).toEqual([
      { type: "command", command: 'Read {"file_path":"a"}' },
      { type: "command", command: 'Read {"file_path":"a"}' },
      { type: "command-result", exitCode: null, output: "No such file." },
    ]);
  });

  test("an edit that failed is no change of a file", () => {
    const edit = use("Edit", { file_path: "a", old_string: "x", new_string: "y" });

    expect(parse("claude", [edit, answer("String not found.", true)])).toEqual([
      { type: "command-result", exitCode: null, output: "String not found." },
    ]);
    expect(parse("claude", [edit, answer("Done.", false)])).toEqual([
      { type: "file-change", path: "a", change: "update" },
    ]);
  });

  test("a session that ends for another reason than success says which", () => {
    const end = line({ type: "result", subtype: "error_max_turns", is_error: false, usage: {} });

    expect(parse("claude", [end])[0]).toEqual({ type: "error", text: "error_max_turns" });
  });

  test("a session announced for every turn is one session", () => {
    const init = line({ type: "system", subtype: "init", session_id: "s", model: "m" });

    expect(parse("claude", [init, init])).toEqual([{ type: "session", id: "s", model: "m" }]);
  });
});

test.each(["codex", "claude", "gemini", "opencode", "command"] as const)(
  "what %s prints that is no known event is kept as it is",
  (name) => {
    const lines = [
      "npm warn something",
      "",
      '{"type":"a.new.kind","x":1}',
      "[1]",
      "null",
      '"type"',
    ];

    expect(parse(name, lines)).toEqual(lines.map((text) => ({ type: "output", text })));
  },
);
