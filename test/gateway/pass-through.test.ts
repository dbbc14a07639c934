import { statSync } from "node:fs";
import { request } from "node:http";
import { expect, test } from "vitest";
import {
  PLACEHOLDER_KEY,
  PROVIDERS,
  type ProviderName,
  clientBaseUrl,
} from "../../src/core/network.ts";
import { ok } from "../../src/core/result.ts";
import { SECRET, answering, ask, credential, gateway, streaming, upstream } from "./rig.ts";

const PATHS: Readonly<Record<ProviderName, string>> = {
  openai: "/v1/responses",
  compatible: "/v1/chat/completions",
  anthropic: "/v1/messages?beta=true",
  gemini: "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
};

const BASES: Readonly<Record<ProviderName, string>> = {
  openai: "/v1",
  compatible: "/some/base/v1",
  anthropic: "",
  gemini: "",
};

const CREDENTIAL_HEADERS = /^(?:authorization|x-api-key|x-goog-api-key)$/;

test.each(PROVIDERS)(
  "%s: an answer in one piece comes through, and the record has a line",
  async (provider) => {
    await using api = await upstream(answering({ said: "hello" }));
    await using rig = await gateway(api.address + BASES[provider], { provider });
    const got = await ask(rig.socketPath, { path: PATHS[provider], body: '{"model":"m-1"}' });
    expect(got.status).toBe(200);
    expect(got.body).toBe('{"said":"hello"}');
    const path = PATHS[provider].replace(
      "/v1",
      provider === "compatible" ? "/some/base/v1" : "/v1",
    );
    expect(api.received.map(({ method, url }) => `${method} ${url}`)).toEqual([`POST ${path}`]);
    const model = provider === "gemini" ? "gemini-3-pro" : "m-1";
    expect(rig.entries).toEqual([
      {
        version: 1,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
        kind: "model",
        phase: "agent",
        method: "POST",
        host: `127.0.0.1:${api.port}`,
        path: PATHS[provider].replace(/\?.*/, ""),
        status: 200,
        outcome: "answered",
        reason: null,
        requestBytes: 15,
        responseBytes: 16,
        model,
        tokens: { input: 5, cachedInput: 0, output: 6, counted: "estimated" },
        costUsd: 0.25,
        firstByteMs: expect.any(Number),
        totalMs: expect.any(Number),
      },
    ]);
  },
);

test.each(PROVIDERS)("%s: the stream's bytes come through as they are", async (provider) => {
  const frames = [
    "event: a\r\ndata: {}\r\n\r\n",
    ': comment\n\ndata: {"x":',
    "1}\n\n",
    "data: [DONE]\n\n",
  ];
  await using api = await upstream(streaming(...frames));
  await using rig = await gateway(api.address + BASES[provider], { provider });
  const got = await ask(rig.socketPath, { path: PATHS[provider] });
  expect(got.headers["content-type"]).toBe("text/event-stream");
  expect(got.body).toBe(frames.join(""));
});

test.each(PROVIDERS)(
  "%s: the client's credentials stay behind and the real one goes in",
  async (provider) => {
    await using api = await upstream(answering({}));
    await using rig = await gateway(api.address + BASES[provider], { provider });
    await ask(rig.socketPath, {
      path: PATHS[provider],
      headers: {
        authorization: `Bearer ${PLACEHOLDER_KEY}`,
        "x-api-key": PLACEHOLDER_KEY,
        "x-goog-api-key": PLACEHOLDER_KEY,
        "proxy-authorization": "Basic abc",
        cookie: "a=b",
        forwarded: "for=1.2.3.4",
        via: "1.1 x",
        "x-forwarded-for": "1.2.3.4",
        "x-forwarded-host": "evil.example",
        "x-real-ip": "1.2.3.4",
        "x-unknown": "y",
        "accept-encoding": "gzip, zstd",
        "user-agent": "agent/1",
        accept: "text/event-stream",
      },
    });
    const { headers } = api.received[0]!;
    expect(JSON.stringify(headers)).not.toContain(PLACEHOLDER_KEY);
    const own = Object.entries(headers).filter(([name]) => CREDENTIAL_HEADERS.test(name));
    expect(own).toHaveLength(1);
    expect(own[0]![1]).toContain(SECRET);
    expect(Object.keys(headers).toSorted()).toEqual(
      [
        own[0]![0],
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
      ].toSorted(),
    );
    expect(headers.host).toBe(`127.0.0.1:${api.port}`);
  },
);

test("a login's token goes in as a bearer, with its own headers and Anthropic's word for it", async () => {
  const value = ok({ kind: "bearer", secret: SECRET, headers: { "x-account": "acct" } } as const);
  await using api = await upstream(answering({}));
  const options = { provider: "anthropic", credential: credential(value) } as const;
  await using rig = await gateway(api.address, options);
  await ask(rig.socketPath, {
    path: "/v1/messages",
    headers: { "x-api-key": PLACEHOLDER_KEY, "anthropic-beta": "claude-code-1, b-2" },
  });
  expect(api.received[0]!.headers).toMatchObject({
    authorization: `Bearer ${SECRET}`,
    "x-account": "acct",
    "anthropic-beta": "claude-code-1,b-2,oauth-2025-04-20",
  });
  expect(api.received[0]!.headers["x-api-key"]).toBeUndefined();
});

test("an upstream that wants no credential gets none", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(api.address, { provider: "compatible", credential: undefined });
  await ask(rig.socketPath, { headers: { authorization: `Bearer ${PLACEHOLDER_KEY}` } });
  expect(api.received[0]!.headers.authorization).toBeUndefined();
});

test("a list of models is asked for without a body and costs no tokens", async () => {
  await using api = await upstream(answering({ data: [] }));
  await using rig = await gateway(`${api.address}/v1`);
  const got = await ask(rig.socketPath, {
    method: "GET",
    path: "/v1/models?client_version=0.171.0",
  });
  expect(got.status).toBe(200);
  expect(api.received[0]).toMatchObject({
    method: "GET",
    url: "/v1/models?client_version=0.171.0",
    body: "",
  });
  expect(rig.entries[0]).toMatchObject({ tokens: null, model: null, costUsd: null });
});

test("cookies and the account's names stay behind on the way back", async () => {
  await using api = await upstream((_request, response) => {
    response.writeHead(200, {
      "content-type": "application/json",
      "set-cookie": "a=b",
      "openai-organization": "acme",
      "x-request-id": "r-1",
      "x-ratelimit-remaining-tokens": "7",
    });
    response.end("{}");
  });
  await using rig = await gateway(`${api.address}/v1`);
  const { headers } = await ask(rig.socketPath);
  expect(headers).toMatchObject({ "x-request-id": "r-1", "x-ratelimit-remaining-tokens": "7" });
  expect(headers["set-cookie"]).toBeUndefined();
  expect(headers["openai-organization"]).toBeUndefined();
});

test.each([401, 403, 429, 500, 503, 529])(
  "a %i of the upstream comes through as it is",
  async (status) => {
    await using api = await upstream(answering({ error: { message: "no" } }, status));
    await using rig = await gateway(`${api.address}/v1`);
    const got = await ask(rig.socketPath);
    expect(got).toMatchObject({ status, body: '{"error":{"message":"no"}}' });
    expect(rig.entries[0]).toMatchObject({ status, outcome: "answered", tokens: null });
    expect(rig.gateway.totals()).toMatchObject({
      requests: 1,
      unauthenticated: status === 401 || status === 403 ? 1 : 0,
      rateLimited: [429, 503, 529].includes(status) ? 1 : 0,
    });
  },
);

test("what was checked is what goes on: of two keys with one name the one that was read", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  const body = '{"tools":[{"type":"web_search"}],"model":"m","tools":[],"store":false,"n":1.50}';
  await ask(rig.socketPath, { body });
  expect(api.received[0]!.body).toBe('{"tools":[],"model":"m","store":false,"n":1.5}');
});

test("the first event is there before the second one is sent", async () => {
  let goOn: (() => void) | undefined;
  await using api = await upstream((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    goOn = () => response.end("data: 2\n\n");
  });
  await using rig = await gateway(`${api.address}/v1`);
  const { socketPath } = rig;
  const seen = await new Promise<string[]>((resolve) => {
    const chunks: string[] = [];
    const headers = { host: "localhost:41080" };
    const sent = request(
      { socketPath, method: "POST", path: "/v1/responses", headers },
      (response) => {
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk.toString());
          if (chunks.length === 1) goOn?.();
        });
        response.on("end", () => resolve(chunks));
      },
    );
    sent.end("{}");
  });
  expect(seen).toEqual(["data: 1\n\n", "data: 2\n\n"]);
});

test("two requests at once go side by side, each to its own answer", async () => {
  const held: (() => void)[] = [];
  await using api = await upstream((_request, response) => {
    const { body } = api.received.at(-1)!;
    held.push(() => response.end(body));
    if (held.length === 2) for (const answer of held.toReversed()) answer();
  });
  await using rig = await gateway(`${api.address}/v1`);
  const [one, two] = await Promise.all([
    ask(rig.socketPath, { body: '{"n":1}' }),
    ask(rig.socketPath, { body: '{"n":2}' }),
  ]);
  expect([one.body, two.body]).toEqual(['{"n":1}', '{"n":2}']);
});

test("anybody may connect to the socket file, and nobody but the owner can come near it", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(api.address);
  expect(statSync(rig.socketPath).mode & 0o777).toBe(0o666);
});

test("an agent's base address and the upstream's go together", () => {
  const origin = "http://127.0.0.1:41080";
  expect(PROVIDERS.map((name) => clientBaseUrl(name, origin))).toEqual([
    `${origin}/v1`,
    origin,
    origin,
    `${origin}/v1`,
  ]);
});
