import { type IncomingMessage, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openModelGateway } from "../../src/gateway/model-gateway.ts";
import { selfSigned } from "./certificates.ts";
import {
  NO_PROXY,
  SECRET,
  answering,
  ask,
  credential,
  directory,
  gateway,
  meter,
  sentence,
  upstream,
} from "./rig.ts";

const HOST = "api.guardloop.invalid";
let certificate: ReturnType<typeof selfSigned>;

beforeAll(() => {
  certificate = selfSigned(HOST, "localhost");
});
afterAll(() => certificate[Symbol.dispose]());

/** An upstream with a certificate of its own. */
async function tlsUpstream() {
  const received: string[] = [];
  const { key, cert } = certificate;
  const server = createTlsServer({ key, cert }, (request, response) => {
    received.push(request.url ?? "");
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end('{"via":"tls"}');
  });
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    received,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A proxy that leads every CONNECT to one port of this host, or refuses it. */
async function connectProxy(port: number, status = 200) {
  const asked: { readonly target: string; readonly headers: IncomingMessage["headers"] }[] = [];
  const open = new Set<Duplex>();
  const server = createServer((request, response) => {
    asked.push({ target: `${request.method} ${request.url}`, headers: request.headers });
    response.end('{"via":"proxy"}');
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    asked.push({ target: `CONNECT ${request.url}`, headers: request.headers });
    socket.on("error", () => undefined);
    open.add(socket);
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const on = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(on).pipe(socket);
    });
    on.on("error", () => socket.destroy());
    open.add(on);
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = (server.address() as AddressInfo).port;
  return {
    asked,
    address: `http://127.0.0.1:${own}`,
    port: own,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a certificate that nobody vouches for is refused, and nothing is sent", async () => {
  await using api = await tlsUpstream();
  await using rig = await gateway(`https://localhost:${api.port}/v1`);
  const got = await ask(rig.socketPath);
  expect(got.status).toBe(502);
  expect(sentence(got)).toContain("certificate of localhost");
  expect(sentence(got)).toContain("NODE_EXTRA_CA_CERTS");
  expect(api.received).toEqual([]);
  expect(rig.entries).toMatchObject([{ outcome: "failed", requestBytes: 0 }]);
  expect(rig.meter.withdrawn()).toBe(1);
});

test("one that a file of the user's vouches for is accepted", async () => {
  await using api = await tlsUpstream();
  const proxy = { ...NO_PROXY, caFiles: [certificate.certFile] };
  await using rig = await gateway(`https://localhost:${api.port}/v1`, { proxy });
  expect((await ask(rig.socketPath)).body).toBe('{"via":"tls"}');
});

test("one that is for another host is refused", async () => {
  await using api = await tlsUpstream();
  const proxy = { ...NO_PROXY, caFiles: [certificate.certFile] };
  await using rig = await gateway(`https://127.0.0.1:${api.port}/v1`, { proxy });
  expect(sentence(await ask(rig.socketPath))).toContain("is not to be trusted");
  expect(api.received).toEqual([]);
});

test("HTTPS_PROXY leads the way, sees no more than the host, and gets its own password", async () => {
  await using api = await tlsUpstream();
  await using way = await connectProxy(api.port);
  const httpsProxy = `http://ada:pa%20ss@127.0.0.1:${way.port}`;
  const proxy = { ...NO_PROXY, httpsProxy, caFiles: [certificate.certFile] };
  await using rig = await gateway(`https://${HOST}/v1`, { proxy });
  expect((await ask(rig.socketPath)).body).toBe('{"via":"tls"}');
  expect(api.received).toEqual(["/v1/responses"]);
  expect(way.asked.map(({ target }) => target)).toEqual([`CONNECT ${HOST}:443`]);
  const { headers } = way.asked[0]!;
  const basic = Buffer.from("ada:pa ss").toString("base64");
  expect(headers["proxy-authorization"]).toBe(`Basic ${basic}`);
  expect(JSON.stringify(headers)).not.toContain(SECRET);
  expect(rig.entries).toMatchObject([{ host: HOST, outcome: "answered" }]);
});

test("without a scheme it is taken as http", async () => {
  await using api = await tlsUpstream();
  await using way = await connectProxy(api.port);
  const proxy = {
    ...NO_PROXY,
    httpsProxy: `127.0.0.1:${way.port}`,
    caFiles: [certificate.certFile],
  };
  await using rig = await gateway(`https://${HOST}/v1`, { proxy });
  expect((await ask(rig.socketPath)).status).toBe(200);
});

test("behind the proxy certificates are verified as well", async () => {
  await using api = await tlsUpstream();
  await using way = await connectProxy(api.port);
  await using rig = await gateway(`https://${HOST}/v1`, {
    proxy: { ...NO_PROXY, httpsProxy: way.address },
  });
  expect(sentence(await ask(rig.socketPath))).toContain("is not to be trusted");
  expect(api.received).toEqual([]);
});

test("a proxy that refuses is told by its status, without its address", async () => {
  await using api = await tlsUpstream();
  await using way = await connectProxy(api.port, 407);
  const httpsProxy = `http://ada:secret-password@127.0.0.1:${way.port}`;
  await using rig = await gateway(`https://${HOST}/v1`, { proxy: { ...NO_PROXY, httpsProxy } });
  const got = await ask(rig.socketPath);
  expect(sentence(got)).toContain(`refused the way to ${HOST} (status 407)`);
  expect(JSON.stringify([got, rig.entries])).not.toContain("secret-password");
});

test.each([HOST, ".guardloop.invalid", "*", "x.invalid, guardloop.invalid:443"])(
  "NO_PROXY %j keeps the proxy out",
  async (noProxy) => {
    await using api = await tlsUpstream();
    await using way = await connectProxy(api.port);
    await using rig = await gateway(`https://${HOST}/v1`, {
      proxy: { ...NO_PROXY, httpsProxy: way.address, noProxy },
    });
    const got = await ask(rig.socketPath);
    expect(sentence(got)).toContain(`The name ${HOST}`);
    expect(way.asked).toEqual([]);
  },
);

test("a model server on this host is reached without the proxy, and by plain http", async () => {
  await using api = await upstream(answering({}));
  await using way = await connectProxy(1);
  const proxy = { ...NO_PROXY, httpProxy: way.address, httpsProxy: way.address };
  for (const host of ["127.0.0.1", "localhost"]) {
    await using rig = await gateway(`http://${host}:${api.port}/v1`, {
      provider: "compatible",
      proxy,
    });
    expect((await ask(rig.socketPath)).status).toBe(200);
  }
  expect(way.asked).toEqual([]);
});

test.each([
  ["socks", { httpsProxy: "socks5://ada:secret-password@localhost:1" }, "begins with http"],
  ["no address", { httpsProxy: "http://" }, "begins with http"],
  ["no file", { caFiles: ["/nowhere/ca.pem"] }, "/nowhere/ca.pem"],
])(
  "settings that cannot be used are told before anything is opened: %s",
  async (_name, own, words) => {
    using at = directory();
    const opened = await openModelGateway({
      spec: {
        provider: "openai",
        upstream: `https://${HOST}`,
        serverTools: [],
        maxRequestBytes: 1024,
      },
      directory: at.path,
      credential: credential(),
      meter: meter().port,
      sink: { add: () => undefined },
      proxy: { ...NO_PROXY, ...own },
    });
    expect(opened).toMatchObject({ ok: false, error: { code: "gateway-failed" } });
    if (opened.ok) return;
    expect(opened.error.message).toContain(words);
    expect(opened.error.message).not.toContain("secret-password");
  },
);

test("a certificate file without certificates is told by name", async () => {
  using at = directory();
  const file = join(at.path, "ca.pem");
  writeFileSync(file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  await expect(
    gateway(`https://${HOST}`, { proxy: { ...NO_PROXY, caFiles: [file] } }),
  ).rejects.toThrow(file);
});

test("a socket that cannot be made is a failure", async () => {
  using at = directory();
  const opened = await openModelGateway({
    spec: {
      provider: "openai",
      upstream: "http://localhost:1",
      serverTools: [],
      maxRequestBytes: 1024,
    },
    directory: join(at.path, "missing"),
    credential: undefined,
    meter: meter().port,
    sink: { add: () => undefined },
    proxy: NO_PROXY,
  });
  expect(opened).toMatchObject({ ok: false, error: { code: "gateway-failed" } });
});
