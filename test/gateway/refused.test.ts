import { expect, test } from "vitest";
import type { ProviderName } from "../../src/core/network.ts";
import { err } from "../../src/core/result.ts";
import { SECRET, answering, ask, credential, gateway, raw, sentence, upstream } from "./rig.ts";

async function refuses(call: Parameters<typeof ask>[1], provider: ProviderName = "openai") {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { provider });
  const got = await ask(rig.socketPath, call);
  expect(api.received).toEqual([]);
  const [entry] = await rig.recorded(1);
  expect(rig.entries).toHaveLength(1);
  expect(entry).toMatchObject({ outcome: "refused", requestBytes: 0, tokens: null });
  expect(entry?.status).toBe(got.status);
  expect(sentence(got)).toBe(`guardloop's gateway: ${entry?.reason}`);
  expect(rig.meter.asked).toEqual([]);
  expect(got.headers["x-should-retry"]).toBe("false");
  return { got, entry: entry! };
}

test.each([
  ["openai", "POST", "/v1/files"],
  ["openai", "POST", "/v1/embeddings"],
  ["openai", "GET", "/v1/responses"],
  ["openai", "DELETE", "/v1/responses"],
  ["openai", "POST", "/responses"],
  ["openai", "POST", "/v1/responses/"],
  ["openai", "POST", "/v1/responses?store=true"],
  ["openai", "POST", "/v1/responses?api-key=abc"],
  ["openai", "POST", "/v1/alpha/search"],
  ["openai", "GET", "/v1/models/../files"],
  ["openai", "GET", "/v1//models"],
  ["openai", "GET", "//v1/models"],
  ["openai", "GET", "/v1/%6dodels"],
  ["openai", "GET", "/v1%2fmodels"],
  ["openai", "GET", "/v1/models/%2e%2e/files"],
  ["openai", "GET", "/v1/models#x"],
  ["openai", "GET", "/v1/models?"],
  ["openai", "GET", "/v1/models?client_version=1&client_version=2"],
  ["openai", "GET", "/v1\\models"],
  ["openai", "GET", "/v1/models;x=y"],
  ["openai", "GET", "/V1/models"],
  ["openai", "GET", "/guardloop/other"],
  ["openai", "POST", "/guardloop/limit"],
  ["anthropic", "POST", "/v1/files"],
  ["anthropic", "POST", "/v1/messages/batches"],
  ["anthropic", "POST", "/api/event_logging/batch"],
  ["anthropic", "GET", "/v1/messages"],
  ["anthropic", "POST", "/v1/messages?beta=true&key=x"],
  ["gemini", "POST", "/upload/v1beta/files"],
  ["gemini", "POST", "/v1beta/cachedContents"],
  ["gemini", "POST", "/v1beta/models/m:generateContent?key=abc"],
  ["gemini", "POST", "/v1beta/models/m:predict"],
  ["gemini", "POST", "/v1beta/tunedModels/m:generateContent"],
  ["gemini", "GET", "/v1beta/models/m:generateContent"],
] as const)("%s: %s %s is none of its API's requests", async (provider, method, path) => {
  const { got, entry } = await refuses({ method, path }, provider);
  expect(got.status).toBe(403);
  expect(entry.method).toBe(method);
  expect(entry.path).toBe(path.replace(/[?#].*/, ""));
  expect(entry.reason).toContain("is not among the requests that it passes on");
});

test("a request for another host is refused, whichever way it names it", async () => {
  const header = await refuses({ headers: { host: "api.openai.com" } });
  expect(header.got.status).toBe(403);
  expect(header.entry.reason).toContain('this one is for "api.openai.com"');
  const absolute = await refuses({ path: "http://ada:pw@evil.example:8080/v1/responses?x=y" });
  expect(absolute.got.status).toBe(403);
  expect(absolute.entry).toMatchObject({ host: "evil.example:8080", path: "/v1/responses" });
  const near = await refuses({ path: "http://127.0.0.1:41080/v1/responses" });
  expect(near.got.status).toBe(403);
});

test("CONNECT is refused and recorded", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(api.address);
  const got = await raw(
    rig.socketPath,
    "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
  );
  expect(got).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(got).toContain("It is no proxy: CONNECT is refused");
  expect(rig.entries).toMatchObject([
    { method: "CONNECT", host: "evil.example:443", path: "", status: 403, outcome: "refused" },
  ]);
});

test.each(["websocket", "h2c"])("an upgrade to %s is refused and recorded", async (protocol) => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(api.address);
  const head = `GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
  const got = await raw(rig.socketPath, head);
  expect(got).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(rig.entries).toMatchObject([{ method: "GET", path: "/v1/responses", outcome: "refused" }]);
  expect(api.received).toEqual([]);
});

test("an expectation other than 100-continue is refused and recorded", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(api.address);
  const head =
    "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\nContent-Length: 2\r\n\r\n{}";
  expect(await raw(rig.socketPath, head)).toMatch(/^HTTP\/1\.1 417 /);
  expect(rig.entries).toMatchObject([{ status: 417, outcome: "refused" }]);
});

test("100-continue is answered, and the request goes on", async () => {
  await using api = await upstream(answering({ said: 1 }));
  await using rig = await gateway(`${api.address}/v1`);
  const head =
    "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
  const got = await raw(rig.socketPath, head);
  expect(got).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
});

test("a redirect is not followed, and its answer not passed back", async () => {
  await using elsewhere = await upstream(answering({ secret: "inside" }));
  await using api = await upstream((_request, response) => {
    response.writeHead(307, { location: `${elsewhere.address}/v1/responses` }).end("moved");
  });
  await using rig = await gateway(`${api.address}/v1`);
  const got = await ask(rig.socketPath);
  expect(got.status).toBe(502);
  expect(got.headers.location).toBeUndefined();
  expect(sentence(got)).toContain("redirects are not followed");
  expect(elsewhere.received).toEqual([]);
  expect(rig.entries).toMatchObject([{ status: 502, outcome: "refused", requestBytes: 2 }]);
});

test("a body in a GET request is refused", async () => {
  const { got } = await refuses({ method: "GET", path: "/v1/models", body: "{}" });
  expect(got.status).toBe(400);
});

test.each([
  "",
  "[1",
  "text",
  '{"a":1}{"b":2}',
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
])("a body that is not JSON in UTF-8 is refused (%#)", async (body) => {
  const { got } = await refuses({ body });
  expect(got.status).toBe(400);
});

test.each(["zstd", "br", "gzip, gzip", "x"])(
  "a body packed as %j is refused: it could not be checked",
  async (encoding) => {
    const { got, entry } = await refuses({ headers: { "content-encoding": encoding } });
    expect(got.status).toBe(415);
    expect(entry.reason).toContain("must be plain or gzip");
  },
);

test("nothing goes out when a budget is used up, and the sentence says which", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  rig.meter.state.exhausted = "The run's budget of 10 requests is used up.";
  const used = await ask(rig.socketPath);
  expect(used.status).toBe(403);
  expect(sentence(used)).toBe("guardloop's gateway: The run's budget of 10 requests is used up.");
  rig.meter.state.exhausted = undefined;
  rig.meter.state.refusal = "This request could use more than is left.";
  expect(sentence(await ask(rig.socketPath))).toContain("more than is left");
  expect(api.received).toEqual([]);
  expect(rig.gateway.totals()).toMatchObject({ requests: 2, refused: 2 });
});

test("a credential that is gone is a failure, before anything is counted", async () => {
  await using api = await upstream(answering({}));
  const gone = credential(err("The login of codex has ended; log in again."));
  await using rig = await gateway(`${api.address}/v1`, { credential: gone });
  const got = await ask(rig.socketPath);
  expect(got.status).toBe(502);
  expect(sentence(got)).toContain("log in again");
  expect(rig.entries).toMatchObject([{ outcome: "failed", status: 502 }]);
  expect(rig.meter.asked).toEqual([]);
});

test("a credential that cannot be a header's value is a failure, and is not told", async () => {
  await using api = await upstream(answering({}));
  const value = { kind: "key", secret: `${SECRET}\r\nx: y`, headers: {} } as const;
  await using rig = await gateway(`${api.address}/v1`, {
    credential: credential({ ok: true, value }),
  });
  const got = await ask(rig.socketPath);
  expect(got.status).toBe(502);
  expect(got.body).not.toContain(SECRET);
  expect(JSON.stringify(rig.entries)).not.toContain(SECRET);
  expect(rig.meter.withdrawn()).toBe(1);
});

test("the gateway's own answers are no egress", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  const headers = { host: "guardloop" };
  const limit = await ask(rig.socketPath, { method: "GET", path: "/guardloop/limit", headers });
  expect(JSON.parse(limit.body)).toEqual({ version: 1, waitMs: null, sawLimit: false });
  expect((await ask(rig.socketPath, { method: "HEAD", path: "/" })).status).toBe(200);
  expect(rig.entries).toEqual([]);
});
