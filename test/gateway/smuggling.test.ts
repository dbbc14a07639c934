import { connect } from "node:net";
import { expect, test } from "vitest";
import { type GatewayRig, answering, gateway, raw, signal, upstream } from "./rig.ts";

const HEAD = "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n";
const SECOND = "POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";

/** What was answered to bytes that may be one request, or two, or none. */
async function after(
  bytes: string,
): Promise<{ answer: string; api: readonly string[]; rig: GatewayRig["entries"] }> {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  const answer = await raw(rig.socketPath, bytes);
  await rig.recorded(1);
  return { answer, api: api.received.map(({ url }) => url), rig: rig.entries };
}

test.each([
  [
    "a length and chunks",
    `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SECOND}`,
  ],
  [
    "chunks and a length",
    `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n${SECOND}`,
  ],
  ["two lengths", `${HEAD}Content-Length: 2\r\nContent-Length: 50\r\n\r\n{}${SECOND}`],
  ["the same length twice", `${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${SECOND}`],
  ["a list of lengths", `${HEAD}Content-Length: 2, 2\r\n\r\n{}${SECOND}`],
  ["a length with a sign", `${HEAD}Content-Length: +2\r\n\r\n{}${SECOND}`],
  ["a length in hexadecimal", `${HEAD}Content-Length: 0x2\r\n\r\n{}${SECOND}`],
  ["a negative length", `${HEAD}Content-Length: -1\r\n\r\n{}${SECOND}`],
  ["a huge length", `${HEAD}Content-Length: 99999999999999999999999\r\n\r\n{}${SECOND}`],
  [
    "chunks under another coding",
    `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SECOND}`,
  ],
  ["an unknown coding", `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SECOND}`],
  ["a folded header", `${HEAD}X-A: b\r\n Content-Length: 2\r\n\r\n{}${SECOND}`],
  [
    "a folded coding",
    `${HEAD}Transfer-Encoding:\r\n chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n${SECOND}`,
  ],
  ["a blank before the colon", `${HEAD}Content-Length : 2\r\n\r\n{}${SECOND}`],
  ["a blank before the name", `POST /v1/responses HTTP/1.1\r\n Host: localhost\r\n\r\n`],
  ["line feeds alone", "POST /v1/responses HTTP/1.1\nHost: localhost\nContent-Length: 2\n\n{}"],
  ["a carriage return in a value", `${HEAD}X-A: b\rContent-Length: 2\r\n\r\n{}`],
  ["a NUL in a value", `${HEAD}X-A: b\0c\r\n\r\n`],
  ["a chunk's size with a sign", `${HEAD}Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n`],
  ["a chunk's size in no digits", `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
  [
    "a chunk that is longer than it says",
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n`,
  ],
  [
    "a chunk's huge size",
    `${HEAD}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
  ],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["no HTTP at all", "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003"],
] as const)("%s: refused, recorded, and nothing goes on", async (_name, bytes) => {
  const { answer, api, rig } = await after(bytes);
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(api).toEqual([]);
  expect(rig).toHaveLength(1);
  expect(rig[0]).toMatchObject({ status: 400, outcome: "refused" });
});

test.each([
  ["no host", "POST /v1/responses HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"],
  ["two hosts", `${HEAD}Host: api.openai.com\r\nContent-Length: 2\r\n\r\n{}`],
  ["the same host twice", `${HEAD}Host: localhost\r\nContent-Length: 2\r\n\r\n{}`],
  ["HTTP/0.9", "GET /v1/models\r\n\r\n"],
] as const)("%s: refused as meant for nobody known", async (_name, bytes) => {
  const { answer, api, rig } = await after(bytes);
  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  expect(api).toEqual([]);
  expect(rig).toMatchObject([{ outcome: "refused" }]);
});

test("a second request in the same bytes is looked at like the first", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  const close = SECOND.replace("Content-Length", "Connection: close\r\nContent-Length");
  const answer = await raw(rig.socketPath, `${HEAD}Content-Length: 2\r\n\r\n{}${close}`);
  await rig.recorded(2);
  expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 403"]);
  expect(api.received).toHaveLength(1);
});

test("headers of chunks' extensions and trailers do not go on", async () => {
  const bytes = `${HEAD}Transfer-Encoding: chunked\r\nTrailer: Authorization\r\nConnection: close\r\n\r\n2;x=y\r\n{}\r\n0\r\nAuthorization: Bearer mine\r\n\r\n`;
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  expect(await raw(rig.socketPath, bytes)).toMatch(/^HTTP\/1\.1 200 /);
  expect(api.received[0]).toMatchObject({ body: "{}" });
  expect(api.received[0]?.headers).toMatchObject({ "content-length": "2" });
  expect(JSON.stringify(api.received[0])).not.toContain("mine");
});

test("headers that the client names in Connection do not take others away", async () => {
  const bytes = `${HEAD}Connection: close, authorization, content-type\r\nContent-Length: 2\r\n\r\n{}`;
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  expect(await raw(rig.socketPath, bytes)).toMatch(/^HTTP\/1\.1 200 /);
  expect(api.received[0]?.headers).toMatchObject({ "content-type": "application/json" });
  expect(api.received[0]?.headers.authorization).toMatch(/^Bearer /);
});

test("a client that is garbled ends its own connection only", async () => {
  let answer: (() => void) | undefined;
  const asked = signal();
  await using api = await upstream((_request, response) => {
    answer = () => response.end("{}");
    asked.give();
  });
  await using rig = await gateway(`${api.address}/v1`);
  const other = raw(rig.socketPath, `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`);
  await asked.given;
  await raw(rig.socketPath, "garbage\r\n\r\n");
  answer?.();
  expect(await other).toMatch(/^HTTP\/1\.1 200 /);
});

test("a connection that ends without a word leaves nothing behind", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  await new Promise<void>((resolve) => {
    const socket = connect(rig.socketPath, () => socket.destroy());
    socket.once("close", () => resolve());
  });
  await raw(rig.socketPath, `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`);
  expect(rig.entries).toHaveLength(1);
});
