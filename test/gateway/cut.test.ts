import { existsSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer as createTcpServer, connect } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { answering, ask, gateway, raw, sentence, signal, upstream } from "./rig.ts";

const HEAD = "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\n";
const REQUEST = `${HEAD}Connection: close\r\nContent-Length: 2\r\n\r\n{}`;
const START = { "content-type": "text/event-stream" };

/** An upstream that leaves its answers open. */
async function open() {
  const responses: ServerResponse[] = [];
  const asked = [signal(), signal()];
  const gone = signal();
  const api = await upstream((_request, response) => {
    responses.push(response);
    response.once("close", () => response.writableFinished || gone.give());
    response.writeHead(200, START);
    response.write("data: 1\n\n");
    asked[responses.length - 1]?.give();
  });
  return { ...api, responses, asked, gone };
}

test("a client that goes ends its own request to the upstream, and no other", async () => {
  await using api = await open();
  await using rig = await gateway(`${api.address}/v1`);
  const socket = connect(rig.socketPath);
  socket.write(REQUEST);
  await new Promise((resolve) => socket.once("data", resolve));
  const other = raw(rig.socketPath, REQUEST);
  await api.asked[1]!.given;
  socket.destroy();
  await api.gone.given;
  api.responses[1]!.end("data: 2\n\n");
  expect(await other).toContain("data: 2");
  await rig.recorded(2);
  expect(rig.entries).toMatchObject([
    { outcome: "cut", status: 200, tokens: { input: 1, output: 2, counted: "estimated" } },
    { outcome: "answered", status: 200 },
  ]);
});

test("a client that goes before the answer begins is counted with what went in", async () => {
  const asked = signal();
  await using api = await upstream(() => asked.give());
  await using rig = await gateway(`${api.address}/v1`);
  const socket = connect(rig.socketPath);
  socket.write(REQUEST);
  await asked.given;
  socket.destroy();
  const [entry] = await rig.recorded(1);
  expect(entry).toMatchObject({ outcome: "cut", status: null, tokens: { input: 1, output: 0 } });
});

test("a client that goes when all has been said has been answered", async () => {
  await using api = await upstream((_request, response) => {
    response.writeHead(200, START);
    const usage = { input_tokens: 3, output_tokens: 4 };
    response.write(
      `data: ${JSON.stringify({ type: "response.completed", response: { usage } })}\n\n`,
    );
  });
  await using rig = await gateway(`${api.address}/v1`);
  const socket = connect(rig.socketPath);
  socket.write(REQUEST);
  const seen = signal();
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes("completed")) seen.give();
  });
  await seen.given;
  socket.destroy();
  const [entry] = await rig.recorded(1);
  expect(entry).toMatchObject({
    outcome: "answered",
    tokens: { input: 3, output: 4, counted: "reported" },
  });
});

test("a client that goes in the middle of its own body has sent nothing", async () => {
  await using api = await upstream(answering({}));
  await using rig = await gateway(`${api.address}/v1`);
  const socket = connect(rig.socketPath);
  socket.end(`${HEAD}Content-Length: 20\r\n\r\n{`);
  const [entry] = await rig.recorded(1);
  expect(entry?.outcome).toMatch(/^(?:cut|refused)$/);
  expect(api.received).toEqual([]);
  expect(rig.meter.asked).toEqual([]);
});

test("an upstream that breaks off ends that answer alone, and it does not look whole", async () => {
  await using api = await open();
  await using rig = await gateway(`${api.address}/v1`);
  const broken = raw(rig.socketPath, REQUEST);
  await api.asked[0]!.given;
  const other = raw(rig.socketPath, REQUEST);
  await api.asked[1]!.given;
  api.responses[0]!.destroy();
  expect(await broken).not.toMatch(/\r\n0\r\n\r\n$/);
  api.responses[1]!.end();
  expect(await other).toMatch(/\r\n0\r\n\r\n$/);
  expect(rig.entries).toMatchObject([
    { outcome: "failed", status: 200, reason: expect.stringContaining("broke off") },
    { outcome: "answered" },
  ]);
});

test("an upstream that is not there is told in a sentence, and nothing is counted", async () => {
  const api = await upstream(answering({}));
  await api[Symbol.asyncDispose]();
  await using rig = await gateway(`${api.address}/v1`);
  const got = await ask(rig.socketPath);
  expect(got.status).toBe(502);
  expect(sentence(got)).toContain(`127.0.0.1:${api.port} could not be reached`);
  expect(rig.entries).toMatchObject([{ outcome: "failed", status: 502, requestBytes: 0 }]);
  expect(rig.meter.withdrawn()).toBe(1);
  expect(got.headers["x-should-retry"]).toBeUndefined();
});

test("an upstream that speaks no HTTP is told in a sentence", async () => {
  const server = createTcpServer((socket) => socket.resume().end("SSH-2.0-odd\r\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await using rig = await gateway(`http://127.0.0.1:${port}/v1`);
  expect((await ask(rig.socketPath)).status).toBe(502);
  expect(rig.entries).toMatchObject([{ outcome: "failed" }]);
  await new Promise((resolve) => server.close(resolve));
});

test("closing ends what is under way, writes it down, and leaves no socket and no directory", async () => {
  await using api = await open();
  const rig = await gateway(`${api.address}/v1`);
  const answer = raw(rig.socketPath, REQUEST);
  await api.asked[0]!.given;
  await rig.gateway[Symbol.asyncDispose]();
  expect(rig.entries).toHaveLength(1);
  expect(existsSync(rig.socketPath)).toBe(false);
  expect(existsSync(rig.socketPath.replace(/\/[^/]*$/, ""))).toBe(false);
  await answer;
  await api.gone.given;
  await rig[Symbol.asyncDispose]();
});
