import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentAdapter } from "../../src/agents/registry.ts";
import type { AgentEvent } from "../../src/agents/port.ts";
import { linesOf } from "./container-task.ts";

const isText = (value: unknown) => typeof value === "string";
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
/** Every field of every event, and what may be in it. */
const SHAPES: Readonly<Record<AgentEvent["type"], Record<string, (value: unknown) => boolean>>> = {
  session: { id: isText, model: (value) => value === null || isText(value) },
  message: { text: isText },
  thinking: { text: isText },
  command: { command: isText },
  "command-result": {
    exitCode: (value) => value === null || Number.isSafeInteger(value),
    output: isText,
  },
  "file-change": { path: isText, change: isText },
  usage: {
    inputTokens: isCount,
    cachedInputTokens: isCount,
    outputTokens: isCount,
    costUsd: (value) => value === null || (Number.isFinite(value) && Number(value) >= 0),
  },
  error: {
    text: isText,
    cause: (value) => value === undefined || value === "rate-limit" || value === "authentication",
  },
  output: { text: isText },
};

function isWellFormed(event: AgentEvent): boolean {
  const { type, ...fields } = event;
  const shape = SHAPES[type];
  return (
    Object.keys(fields).every((key) => key in shape) &&
    Object.entries(shape).every(([key, fits]) => fits(Object(fields)[key]))
  );
}

function recorded(name: string): readonly string[] {
  return ["task", "refused"].flatMap((fixture) =>
    linesOf(readFileSync(new URL(`fixtures/${name}-${fixture}.jsonl`, import.meta.url), "utf8")),
  );
}

type Path = readonly (string | number)[];

/** The place of every value in a document. */
function placesIn(value: unknown, at: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [at];
  const inner = Object.entries(value).flatMap(([key, child]) => placesIn(child, [...at, key]));
  return [at, ...inner];
}

function replaced(value: unknown, at: Path, by: unknown): unknown {
  const [key, ...rest] = at;
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((child, index) => (index === Number(key) ? replaced(child, rest, by) : child));
  return Object.fromEntries(
    Object.entries(Object(value)).map(([name, child]) =>
      name === key ? [name, replaced(child, rest, by)] : [name, child],
    ),
  );
}

const strangeValue = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(null, "", -1, 1.5, 1e300, Number.MAX_SAFE_INTEGER, [], {}, [null], [[]]),
);

describe.each(["codex", "claude", "gemini", "opencode", "command"] as const)(
  "the parser of %s",
  (name) => {
    const lines = name === "command" ? ["plain"] : recorded(name);
    const changedLine = fc.constantFrom(...lines).chain((line) => {
      if (name === "command") return fc.string();
      const document: unknown = JSON.parse(line);
      return fc
        .tuple(fc.constantFrom(...placesIn(document)), strangeValue)
        .map(([at, by]) => JSON.stringify(replaced(document, at, by)));
    });
    const brokenLine = fc
      .tuple(fc.constantFrom(...lines), fc.nat(), fc.nat(20), fc.string())
      .map(([line, start, length, text]) => {
        const at = start % (line.length + 1);
        return line.slice(0, at) + text + line.slice(at + length);
      });
    const anyLine = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      changedLine,
      brokenLine,
      fc.constantFrom(...lines),
    );

    test("never throws and gives well-formed events, whatever the lines", () => {
      const outcome = fc.check(
        fc.property(fc.array(anyLine, { maxLength: 12 }), (stream) => {
          const parse = agentAdapter(name).parser();
          return stream.flatMap((line) => parse(line)).every(isWellFormed);
        }),
        { numRuns: 2000, seed: Number(process.env["FC_SEED"] ?? 20_261_130) },
      );

      expect(fc.defaultReportMessage(outcome) ?? "").toBe("");
    });
  },
);

// A program that starts things and never ends them must not fill the memory: the oldest are forgotten.
const MANY = 5_000;

function shellItem(id: number): unknown {
  return { id: String(id), type: "command_execution", command: "x" };
}

function blockLine(type: string, block: unknown): string {
  return JSON.stringify({ type, message: { content: [block] } });
}

test("the parser of codex forgets commands that never end", () => {
  const parse = agentAdapter("codex").parser();
  for (let id = 0; id < MANY; id += 1)
    parse(JSON.stringify({ type: "item.started", item: shellItem(id) }));
  const completed = (id: number) =>
    parse(JSON.stringify({ type: "item.completed", item: shellItem(id) })).map(
      (event) => event.type,
    );

  expect(completed(MANY - 1)).toEqual(["command-result"]);
  expect(completed(0)).toEqual(["command", "command-result"]);
});

test("the parser of claude forgets commands that never end", () => {
  const parse = agentAdapter("claude").parser();
  for (let id = 0; id < MANY; id += 1)
    parse(
      blockLine("assistant", {
        type: "tool_use",
        id: String(id),
        name: "Bash",
        input: { command: "x" },
      }),
    );
  const completed = (id: number) =>
    parse(blockLine("user", { type: "tool_result", tool_use_id: String(id), content: "" }));

  expect(completed(MANY - 1)).toHaveLength(1);
  expect(completed(0)).toEqual([]);
});

test("the parser of gemini forgets tools that never end, and puts no endless message together", () => {
  const parse = agentAdapter("gemini").parser();
  for (let id = 0; id < MANY; id += 1)
    parse(
      JSON.stringify({
        type: "tool_use",
        tool_id: String(id),
        tool_name: "run_shell_command",
        parameters: { command: "x" },
      }),
    );
  const completed = (id: number) =>
    parse(JSON.stringify({ type: "tool_result", tool_id: String(id), status: "success" }));
  const piece = { type: "message", role: "assistant", delta: true, content: "x".repeat(10_000) };

  expect(completed(MANY - 1)).toHaveLength(1);
  expect(completed(0)).toEqual([]);
  const told = Array.from({ length: 20 }, () => parse(JSON.stringify(piece))).flat();
  expect(told.length).toBeGreaterThan(1);
});
