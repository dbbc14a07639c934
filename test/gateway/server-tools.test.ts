import { expect, test } from "vitest";
import type { ProviderName } from "../../src/core/network.ts";
import { answering, ask, gateway, sentence, upstream } from "./rig.ts";

const PATHS: Readonly<Record<ProviderName, string>> = {
  openai: "/v1/responses",
  compatible: "/v1/chat/completions",
  anthropic: "/v1/messages",
  gemini: "/v1beta/models/m:generateContent",
};

async function send(provider: ProviderName, body: unknown, serverTools: readonly string[] = []) {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { provider, serverTools });
  const got = await ask(rig.socketPath, { path: PATHS[provider], body: JSON.stringify(body) });
  return { got, received: api.received, entries: rig.entries };
}

const tool = (type: string, more: object = {}) => ({ tools: [{ type, ...more }] });
const said = (...content: readonly object[]) => ({ messages: [{ role: "user", content }] });
const input = (...items: readonly object[]) => ({ input: items });
const parts = (...own: readonly object[]) => ({ contents: [{ parts: own }] });
const DATA_URL = "data:image/png;base64,AAAA";

/** What has to be refused, and the name that allows it. */
const REFUSED: readonly (readonly [ProviderName, string, unknown])[] = [
  ["openai", "web_search", tool("web_search")],
  ["openai", "web_search", tool("web_search_preview")],
  ["openai", "web_search", tool("web_search_preview_2025_03_11")],
  ["openai", "web_search", tool("web_search", { external_web_access: false })],
  ["openai", "file_search", tool("file_search")],
  ["openai", "code_interpreter", tool("code_interpreter")],
  ["openai", "mcp", tool("mcp", { server_url: "https://evil.example" })],
  ["openai", "computer_use", tool("computer_use_preview")],
  ["openai", "image_generation", tool("image_generation")],
  ["openai", "hosted_shell", tool("shell", { environment: { type: "container_auto" } })],
  ["openai", "something_new", tool("something_new")],
  ["openai", "something_new", tool("Something-New_2031")],
  ["openai", "a_tool_without_a_type", { tools: [{ name: "x" }] }],
  ["openai", "a_tool_without_a_type", { tools: ["web_search"] }],
  ["openai", "tools", { tools: { 0: { type: "web_search" } } }],
  ["openai", "web_search", tool("namespace", tool("web_search"))],
  ["openai", "web_search", tool("namespace", tool("namespace", tool("web_search")))],
  ["openai", "web_search", input({ type: "additional_tools", ...tool("web_search") })],
  ["openai", "mcp", input({ type: "tool_search_output", ...tool("namespace", tool("mcp")) })],
  [
    "openai",
    "url_fetch",
    input({ content: [{ type: "input_image", image_url: "https://evil.example/x" }] }),
  ],
  [
    "openai",
    "url_fetch",
    input({ content: [{ type: "input_file", file_url: "https://evil.example/x" }] }),
  ],
  [
    "openai",
    "url_fetch",
    input({ output: [{ type: "input_image", image_url: "HTTP://evil.example" }] }),
  ],
  ["openai", "files", input({ content: [{ type: "input_file", file_id: "file-1" }] })],
  ["openai", "stored_responses", { previous_response_id: "resp_1", input: "x" }],
  ["openai", "stored_responses", { conversation: "conv_1" }],
  ["openai", "stored_responses", { prompt: { id: "pmpt_1" } }],
  ["openai", "stored_responses", input({ type: "item_reference", id: "msg_1" })],
  ["openai", "background", { background: true }],
  ["compatible", "web_search", { web_search_options: {} }],
  ["compatible", "web_search", { model: "gpt-4o-search-preview" }],
  ["compatible", "web_search", { model: "openai/gpt-5:online" }],
  ["compatible", "plugins", { plugins: [{ id: "web" }] }],
  [
    "compatible",
    "url_fetch",
    said({ type: "image_url", image_url: { url: "https://evil.example/x" } }),
  ],
  ["compatible", "files", said({ type: "file", file: { file_id: "file-1" } })],
  ["anthropic", "web_search", tool("web_search_20250305", { name: "web_search" })],
  ["anthropic", "web_fetch", tool("web_fetch_20250910")],
  ["anthropic", "code_execution", tool("code_execution_20250825")],
  ["anthropic", "mcp", tool("mcp_toolset")],
  ["anthropic", "mcp", { mcp_servers: [{ type: "url", url: "https://evil.example" }] }],
  ["anthropic", "code_execution", { container: { skills: [] } }],
  ["anthropic", "advisor", tool("advisor_20270101")],
  ["anthropic", "tools", { tools: "web_search" }],
  [
    "anthropic",
    "url_fetch",
    said({ type: "image", source: { type: "url", url: "https://evil.example" } }),
  ],
  ["anthropic", "url_fetch", said({ type: "document", source: { type: "odd" } })],
  ["anthropic", "files", said({ type: "document", source: { type: "file", file_id: "f" } })],
  ["anthropic", "files", said({ type: "container_upload", file_id: "f" })],
  [
    "anthropic",
    "url_fetch",
    said({ type: "tool_result", content: [{ type: "image", source: { type: "url", url: "x" } }] }),
  ],
  ["gemini", "google_search", { tools: [{ googleSearch: {} }] }],
  ["gemini", "google_search", { tools: [{ google_search: {} }] }],
  ["gemini", "google_search", { tools: [{ googleSearchRetrieval: {} }] }],
  ["gemini", "url_context", { tools: [{ urlContext: {} }] }],
  ["gemini", "code_execution", { tools: [{ functionDeclarations: [] }, { code_execution: {} }] }],
  ["gemini", "google_maps", { tools: [{ googleMaps: {} }] }],
  ["gemini", "tools", { tools: { googleSearch: {} } }],
  ["gemini", "url_fetch", parts({ fileData: { fileUri: "https://evil.example" } })],
  ["gemini", "url_fetch", parts({ file_data: { file_uri: "gs://x" } })],
  [
    "gemini",
    "url_fetch",
    parts({ functionResponse: { name: "f", parts: [{ fileData: { fileUri: "x" } }] } }),
  ],
  ["gemini", "stored_responses", { cachedContent: "cachedContents/1" }],
  ["gemini", "google_search", { generateContentRequest: { tools: [{ googleSearch: {} }] } }],
];

test.each(REFUSED)(
  "%s: %s is refused and can be allowed by that name (%#)",
  async (provider, name, body) => {
    const { got, received, entries } = await send(provider, body, ["another"]);
    expect(got.status).toBe(403);
    expect(received).toEqual([]);
    expect(sentence(got)).toMatch(new RegExp(`gateway: ${name}\\b`));
    expect(sentence(got)).toContain(`--server-tool ${name}.`);
    expect(entries).toMatchObject([{ outcome: "refused", status: 403 }]);
    const allowed = await send(provider, body, [name]);
    expect(allowed.got.status).toBe(200);
    expect(JSON.parse(allowed.received[0]!.body)).toEqual(body);
  },
);

/** What agents send. */
const PASSING: readonly (readonly [ProviderName, unknown])[] = [
  [
    "openai",
    {
      tools: ["function", "custom", "local_shell", "shell", "apply_patch", "tool_search"].map(
        (type) => ({ type }),
      ),
    },
  ],
  ["openai", tool("shell", { environment: { type: "local" } })],
  [
    "openai",
    input(
      { type: "additional_tools", ...tool("namespace", tool("function")) },
      { role: "user", content: "x" },
    ),
  ],
  ["openai", input({ content: [{ type: "input_image", image_url: DATA_URL }] })],
  [
    "openai",
    { input: "https://example.org is a page", background: false, previous_response_id: null },
  ],
  [
    "openai",
    tool("function", {
      parameters: { properties: { image_url: { type: "string" }, tools: { type: "array" } } },
    }),
  ],
  [
    "compatible",
    { ...said({ type: "image_url", image_url: { url: DATA_URL } }), ...tool("function") },
  ],
  [
    "anthropic",
    {
      tools: [
        { name: "Bash", input_schema: {} },
        { type: "custom", name: "x" },
      ],
    },
  ],
  [
    "anthropic",
    {
      tools: [
        { type: "bash_20250124" },
        { type: "text_editor_20250728" },
        { type: "memory_20250818" },
      ],
    },
  ],
  [
    "anthropic",
    said({ type: "image", source: { type: "base64", data: "AA" } }, { type: "text", text: "x" }),
  ],
  [
    "anthropic",
    said({ type: "tool_use", input: { source: { type: "url", url: "https://example.org" } } }),
  ],
  ["anthropic", { mcp_servers: [], container: null }],
  [
    "gemini",
    {
      tools: [{ functionDeclarations: [{ name: "f", parameters: { properties: { tools: {} } } }] }],
    },
  ],
  [
    "gemini",
    parts({ functionCall: { name: "f", args: { fileData: { x: 1 }, tools: [{ a: 1 }] } } }),
  ],
  [
    "gemini",
    parts({ functionResponse: { name: "f", response: { tools: [{ googleSearch: {} }] } } }),
  ],
  ["gemini", parts({ inlineData: { mimeType: "image/png", data: "AA" } })],
];

test.each(PASSING)("%s: what agents do on their own side passes (%#)", async (provider, body) => {
  const { got, received } = await send(provider, body);
  expect(got.status, got.body).toBe(200);
  expect(JSON.parse(received[0]!.body)).toEqual(body);
});

test("several at once are told in one sentence, the dated name in brackets", async () => {
  const body = { tools: [{ type: "web_search_20250305" }, { type: "web_fetch_20250910" }] };
  const { got } = await send("anthropic", body);
  expect(sentence(got)).toBe(
    "guardloop's gateway: web_search (\"web_search_20250305\") is something the model's provider would do on its side, a way out of this container, and is refused. So are web_fetch. The user can allow it by name: gateway.server_tools, or --server-tool web_search.",
  );
});

test("a body that nests without end is refused before it is looked at", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  const deep = `{"input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  const got = await ask(rig.socketPath, { body: deep });
  expect(got.status).toBe(400);
  expect(sentence(got)).toContain("nested deeper than 500");
});

test("a body of more values than any agent sends is refused: each would take memory", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { maxRequestBytes: 8 * 1024 * 1024 });
  const got = await ask(rig.socketPath, { body: `{"input":[${"[],".repeat(600_000)}[]]}` });
  expect(got.status).toBe(413);
});
