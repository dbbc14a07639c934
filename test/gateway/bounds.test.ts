import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { answering, ask, gateway, raw, sentence, signal, upstream } from "./rig.ts";

const HEAD = "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n";
const KIB = 1024;

test("a body that says it is too large is refused before it is sent", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { maxRequestBytes: KIB });
  const answer = await raw(rig.socketPath, `${HEAD}Content-Length: 1025\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain("the user can raise gateway.max_request");
  expect(rig.entries).toMatchObject([{ status: 413, outcome: "refused", requestBytes: 0 }]);
  expect(api.received).toEqual([]);
});

test("a client that waits with its large body is refused without a word to go on", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { maxRequestBytes: KIB });
  const answer = await raw(
    rig.socketPath,
    `${HEAD}Expect: 100-continue\r\nContent-Length: 2000\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

test("a body that turns out too large is refused, and its client comes to read why", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { maxRequestBytes: 64 * KIB });
  const got = await ask(rig.socketPath, {
    headers: { "transfer-encoding": "chunked" },
    body: `"${"x".repeat(4 * KIB * KIB)}"`,
  });
  expect(got.status).toBe(413);
  expect(sentence(got)).toContain("larger than 0.1 MiB");
  expect(rig.entries).toMatchObject([{ status: 413, outcome: "refused" }]);
});

test("a body of just the largest size passes", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { maxRequestBytes: KIB });
  const body = `{"input":"${"x".repeat(KIB - 12)}"}`;
  expect(body).toHaveLength(KIB);
  expect((await ask(rig.socketPath, { body })).status).toBe(200);
  expect((await ask(rig.socketPath, { body: `${body} ` })).status).toBe(413);
});

test("a gzip body is unpacked, checked, and sent on plain", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { maxRequestBytes: 64 * KIB });
  const headers = { "content-encoding": "gzip" };
  const got = await ask(rig.socketPath, { headers, body: gzipSync('{"model":"m"}') });
  expect(got.status).toBe(200);
  expect(api.received).toMatchObject([{ body: '{"model":"m"}' }]);
  expect(api.received[0]?.headers["content-encoding"]).toBeUndefined();
  const hidden = gzipSync('{"tools":[{"type":"web_search"}]}');
  expect((await ask(rig.socketPath, { headers, body: hidden })).status).toBe(403);
  const bomb = gzipSync(Buffer.alloc(8 * KIB * KIB, "["));
  expect(bomb.length).toBeLessThan(64 * KIB);
  expect((await ask(rig.socketPath, { headers, body: bomb })).status).toBe(413);
  expect((await ask(rig.socketPath, { headers, body: "no gzip" })).status).toBe(400);
  expect(api.received).toHaveLength(1);
});

test("a slow body ends with its own sentence, and a slow one beside it costs the others nothing", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { limits: { bodyMs: 300 } });
  const slow = raw(rig.socketPath, `${HEAD}Content-Length: 20\r\n\r\n{`);
  expect((await ask(rig.socketPath)).status).toBe(200);
  expect(await slow).toMatch(/^HTTP\/1\.1 408 [\s\S]*took longer than 0\.3 seconds/);
  expect(rig.entries).toMatchObject([{ status: 200 }, { status: 408, outcome: "refused" }]);
});

test("headers that do not come to an end, and a connection that says nothing, are given up", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { limits: { headerMs: 300 } });
  const answer = await raw(rig.socketPath, `${HEAD}X-Slow: 1`);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(await raw(rig.socketPath, "")).toMatch(/^HTTP\/1\.1 408 /);
  expect(rig.entries).toMatchObject([{ status: 408, outcome: "refused" }, { status: 408 }]);
});

test("headers without end are refused", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  const answer = await raw(rig.socketPath, `${HEAD}X-Large: ${"x".repeat(100 * KIB)}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(rig.entries).toMatchObject([{ status: 431, outcome: "refused" }]);
});

test("more connections than allowed are not answered, and a free one is again", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`, { limits: { connections: 1 } });
  const held = connect(rig.socketPath);
  const opened = new Promise((resolve) => held.once("connect", resolve));
  await opened;
  expect(await raw(rig.socketPath, `${HEAD}Content-Length: 2\r\n\r\n{}`)).toBe("");
  const closed = new Promise((resolve) => held.once("close", resolve));
  held.end(`${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`);
  held.resume();
  await closed;
  expect((await ask(rig.socketPath)).status).toBe(200);
});

test("bodies of many requests at once have a bound together, and it is free again when they are done", async () => {
  const held: (() => void)[] = [];
  const two = signal();
  await using api = await upstream((_request, response) => {
    held.push(() => response.end("{}"));
    if (held.length === 2) two.give();
  });
  const body = `"${"x".repeat(900)}"`;
  await using rig = await gateway(`${api.address}/v1`, {
    maxRequestBytes: KIB,
    limits: { largestBodies: 2 },
  });
  const first = [ask(rig.socketPath, { body }), ask(rig.socketPath, { body })];
  await two.given;
  const third = await ask(rig.socketPath, { body });
  expect(third.status).toBe(413);
  expect(sentence(third)).toContain("Too many large requests");
  for (const answer of held) answer();
  await Promise.all(first);
  const again = ask(rig.socketPath, { body });
  const answered = await Promise.race([again, waitFor(() => held.length === 3)]);
  expect(answered).toBe(undefined);
  held[2]?.();
  expect((await again).status).toBe(200);
});

test("an upstream that says nothing is given up", async () => {
  await using api = await upstream(() => undefined);
  await using rig = await gateway(`${api.address}/v1`, { limits: { upstreamSilenceMs: 300 } });
  const got = await ask(rig.socketPath);
  expect(got.status).toBe(504);
  expect(rig.entries).toMatchObject([{ status: 504, outcome: "failed" }]);
});

test("a client that takes nothing of its answer is given up", async () => {
  await using api = await upstream((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(Buffer.alloc(64 * KIB * KIB, "x"));
  });
  await using rig = await gateway(`${api.address}/v1`, { limits: { clientSilenceMs: 300 } });
  const socket = connect(rig.socketPath);
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
  const [entry] = await rig.recorded(1);
  expect(entry).toMatchObject({ status: 200, outcome: "cut" });
  // It was not read into memory meanwhile.
  expect(entry?.responseBytes).toBeLessThan(16 * KIB * KIB);
  socket.destroy();
});

async function waitFor(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setImmediate(resolve));
}
