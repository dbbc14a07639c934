import { afterEach, describe, expect, test } from "vitest";
import { type ModelApi, type ModelStep, startModelApi } from "../rig/model-api/model-api.mjs";

const apis: ModelApi[] = [];
afterEach(async () => {
  for (const api of apis.splice(0)) await api.close();
});

async function started(steps: readonly ModelStep[]): Promise<ModelApi> {
  const api = await startModelApi({ steps });
  apis.push(api);
  return api;
}

function post(api: ModelApi, path: string, body: unknown): Promise<Response> {
  return fetch(`http://127.0.0.1:${api.port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer k" },
    body: JSON.stringify(body),
  });
}

/** The data of a stream of server-sent events. */
async function framesOf(response: Response): Promise<readonly { readonly type: string }[]> {
  const frames = (await response.text()).split(/\r?\n\r?\n/).filter((frame) => frame !== "");
  const data = frames.map((frame) => frame.slice(frame.indexOf("data: ") + 6).trim());
  // How a stream of chat completions ends; it is no JSON.
  return data.filter((text) => text !== "[DONE]").map((text) => JSON.parse(text));
}

const TOOLS = [{ name: "t" }];

describe.each([
  {
    path: "/v1/responses",
    ask: (results: number) => ({
      tools: TOOLS,
      input: Array.from({ length: results }, () => ({ type: "function_call_output" })),
    }),
    last: "response.completed",
  },
  {
    path: "/v1/messages",
    ask: (results: number) => ({
      tools: TOOLS,
      messages: Array.from({ length: results }, () => ({ content: [{ type: "tool_result" }] })),
    }),
    last: "message_stop",
  },
  {
    path: "/v1/chat/completions",
    ask: (results: number) => ({
      tools: TOOLS,
      messages: Array.from({ length: results }, () => ({ role: "tool" })),
    }),
    last: undefined,
  },
  {
    path: "/v1beta/models/some:streamGenerateContent",
    ask: (results: number) => ({
      tools: [{ functionDeclarations: TOOLS }],
      contents: Array.from({ length: results }, () => ({
        role: "user",
        parts: [{ functionResponse: {} }],
      })),
    }),
    last: undefined,
  },
])("the scripted model API at $path", ({ path, ask, last }) => {
  const steps: readonly ModelStep[] = [{ run: "first" }, { run: "second" }, { say: "finished" }];

  test.each([
    [0, "first"],
    [1, "second"],
    [2, "finished"],
    [7, "finished"],
  ])("answers a request with %i tool results by the step %s, also again", async (results, word) => {
    const api = await started(steps);

    for (const attempt of [1, 2]) {
      const frames = await framesOf(await post(api, path, ask(results)));
      expect(JSON.stringify(frames)).toContain(word);
      expect(frames.at(-1)?.type).toBe(last);
      expect(api.requests).toHaveLength(attempt);
    }

    expect(api.requests[0]).toMatchObject({ path, authorization: "Bearer k", upgrade: false });
  });

  test("answers a side question without tools in words, and leaves the script alone", async () => {
    const api = await started(steps);

    const frames = await framesOf(await post(api, path, { ...ask(0), tools: [] }));

    expect(JSON.stringify(frames)).toContain('"ok"');
    expect(JSON.stringify(frames)).not.toContain("first");
  });

  test("refuses, and breaks off, where a step says so", async () => {
    const api = await started([{ status: 429, say: "slow down" }, { cut: true }]);

    const refused = await post(api, path, ask(0));
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain("slow down");
    const cut = await post(api, path, ask(1));
    await expect(cut.text()).rejects.toThrow("terminated");
  });
});

test("an endpoint that no model API has is not found", async () => {
  const api = await started([{ say: "x" }]);

  expect((await post(api, "/v1/files", {})).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${api.port}/v1/responses`)).status).toBe(404);
});
