import { expect, test } from "vitest";
import type { ProviderName } from "../../src/core/network.ts";
import { answering, ask, gateway, streaming, upstream } from "./rig.ts";

const PATHS: Readonly<Record<ProviderName, string>> = {
  openai: "/v1/responses",
  compatible: "/v1/chat/completions",
  anthropic: "/v1/messages",
  gemini: "/v1beta/models/m:streamGenerateContent?alt=sse",
};

interface Case {
  readonly provider: ProviderName;
  readonly tokens: {
    readonly input: number;
    readonly cachedInput: number;
    readonly cacheWrite?: number;
    readonly output: number;
  };
  readonly json: unknown;
  readonly events: readonly unknown[];
}

const responsesUsage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 7,
  total_tokens: 107,
};
const chatUsage = {
  prompt_tokens: 100,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens: 7,
};
const chunk = { object: "chat.completion.chunk" };

const CASES: readonly Case[] = [
  {
    provider: "openai",
    tokens: { input: 100, cachedInput: 40, output: 7 },
    json: { object: "response", usage: responsesUsage },
    events: [
      { type: "response.created", response: { usage: null, tools: [{ name: "usage" }] } },
      { type: "response.output_text.delta", delta: 'says "usage": {"input_tokens":9} é' },
      {
        type: "response.completed",
        response: { output: [{ text: "usage" }], usage: responsesUsage },
      },
    ],
  },
  {
    provider: "compatible",
    tokens: { input: 100, cachedInput: 40, output: 7 },
    json: { object: "chat.completion", choices: [{}], usage: chatUsage },
    events: [
      { ...chunk, choices: [{ delta: { content: "a" } }], usage: null },
      { ...chunk, choices: [{}], usage: { prompt_tokens: 100, completion_tokens: 1 } },
      { ...chunk, choices: [], usage: chatUsage },
    ],
  },
  {
    provider: "anthropic",
    tokens: { input: 110, cachedInput: 40, cacheWrite: 10, output: 7 },
    json: {
      type: "message",
      usage: {
        input_tokens: 60,
        cache_read_input_tokens: 40,
        cache_creation_input_tokens: 10,
        output_tokens: 7,
      },
    },
    events: [
      {
        type: "message_start",
        message: {
          usage: {
            input_tokens: 60,
            cache_read_input_tokens: 40,
            cache_creation_input_tokens: 10,
            output_tokens: 1,
          },
        },
      },
      { type: "content_block_delta", delta: { text: "x" } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } },
      { type: "message_stop" },
    ],
  },
  {
    provider: "gemini",
    tokens: { input: 100, cachedInput: 40, output: 7 },
    json: {
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 2,
      },
    },
    events: [
      { candidates: [{}], usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 1 } },
      {
        candidates: [{ finishReason: "STOP" }],
        usageMetadata: {
          promptTokenCount: 90,
          toolUsePromptTokenCount: 10,
          cachedContentTokenCount: 40,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 2,
        },
      },
    ],
  },
];

function frames(events: readonly unknown[], lineEnd: "\n" | "\r\n"): string {
  return events
    .map((event) => `event: x${lineEnd}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`)
    .join("");
}

async function tokensOf(one: Case, answer: Parameters<typeof upstream>[0]) {
  await using api = await upstream(answer);
  await using rig = await gateway(api.address, { provider: one.provider });
  const got = await ask(rig.socketPath, { path: PATHS[one.provider], body: '{"model":"m"}' });
  const [entry] = await rig.recorded(1);
  expect(rig.meter.used[0]?.tokens).toEqual(entry?.tokens);
  return { tokens: entry?.tokens, body: got.body, totals: rig.gateway.totals() };
}

test.each(CASES)("$provider: tokens are read from an answer in one piece", async (one) => {
  const { tokens, totals } = await tokensOf(one, answering(one.json));
  expect(tokens).toEqual({ ...one.tokens, counted: "reported" });
  expect(totals).toMatchObject({ inputTokens: one.tokens.input, outputTokens: 7, costUsd: 0.25 });
});

test.each(CASES)("$provider: tokens are read from a stream", async (one) => {
  const { tokens } = await tokensOf(one, streaming(frames(one.events, "\n"), "data: [DONE]\n\n"));
  expect(tokens).toEqual({ ...one.tokens, counted: "reported" });
});

test.each(CASES)("$provider: also where every byte of it comes alone, with CRLF", async (one) => {
  const bytes = Buffer.from(frames(one.events, "\r\n"));
  const single = Array.from(bytes, (byte) => Buffer.of(byte));
  const { tokens, body } = await tokensOf(one, streaming(...single));
  expect(tokens).toEqual({ ...one.tokens, counted: "reported" });
  expect(body).toBe(bytes.toString());
});

test.each(CASES)("$provider: also where the last line has no end", async (one) => {
  const { tokens } = await tokensOf(one, streaming(frames(one.events, "\n").trimEnd()));
  expect(tokens).toEqual({ ...one.tokens, counted: "reported" });
});

test("gemini: a stream that is one JSON list is read as well", async () => {
  const one = CASES.find(({ provider }) => provider === "gemini")!;
  const { tokens } = await tokensOf(one, answering(one.events));
  expect(tokens).toEqual({ ...one.tokens, counted: "reported" });
});

test("an answer that says nothing of tokens is reckoned on the high side", async () => {
  const { tokens } = await tokensOf(CASES[0]!, answering({ text: "x".repeat(89) }));
  expect(tokens).toEqual({ input: 5, cachedInput: 0, output: 34, counted: "estimated" });
});

test("counts that are none are not believed", async () => {
  const usage = { input_tokens: -5, output_tokens: "many" };
  const { tokens } = await tokensOf(CASES[0]!, answering({ usage }));
  expect(tokens).toMatchObject({ counted: "estimated" });
});

test("a line that is longer than can be held passes whole, and is reckoned", async () => {
  const long = `data: {"type":"response.completed","text":"${"x".repeat(5 * 1024 * 1024)}","usage":{"input_tokens":1,"output_tokens":1}}\n\n`;
  const { tokens, body } = await tokensOf(CASES[0]!, streaming(long, "data: {}\n\n"));
  expect(body).toHaveLength(long.length + 10);
  expect(tokens).toMatchObject({ counted: "estimated" });
});

test("counting tokens costs none", async () => {
  await using api = await upstream(
    answering({ input_tokens: 9, usage: { input_tokens: 9, output_tokens: 9 } }),
  );
  await using rig = await gateway(api.address, { provider: "anthropic" });
  await ask(rig.socketPath, { path: "/v1/messages/count_tokens" });
  expect(rig.meter.used).toEqual([{ model: null, tokens: null }]);
});
