import { connect } from "node:net";
import { existsSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { clientHello, connectRequest, echo, exchange, proxyRig, PUBLIC } from "./proxy-rig.ts";

const HOST = "registry.example.org";

/** A tunnel that gets its bytes back. */
async function tunnel(socketPath: string, hello: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    let said = Buffer.alloc(0);
    socket.on("error", reject);
    socket.on("connect", () => socket.write(connectRequest(`${HOST}:443`)));
    socket.on("data", (chunk: Buffer) => {
      const before = said.length;
      said = Buffer.concat([said, chunk]);
      const head = said.indexOf("\r\n\r\n") + 4;
      if (before === 0) socket.write(hello);
      if (head >= 4 && said.length === head + hello.length) socket.end();
    });
    socket.on("close", () => resolve(said.subarray(said.indexOf("\r\n\r\n") + 4)));
  });
}

test("TLS for an allowed host is passed on byte for byte, to the address that was looked at, and written down", async () => {
  await using server = await echo();
  await using rig = await proxyRig({ port: server.port });
  const hello = await clientHello(HOST);
  expect(await tunnel(rig.socketPath, hello)).toEqual(hello);
  expect(rig.dialled).toEqual([`${PUBLIC}:443`]);
  await expect.poll(() => rig.entries).toHaveLength(1);
  expect(rig.entries[0]).toMatchObject({
    kind: "host",
    phase: "setup",
    method: "CONNECT",
    host: HOST,
    status: 200,
    outcome: "answered",
    reason: null,
    requestBytes: hello.length,
    responseBytes: hello.length,
  });
  expect(rig.proxy.totals()).toMatchObject({ requests: 1, refused: 0, requestBytes: hello.length });
});

test.each([
  [
    "a host that is not allowed",
    "other.example.org:443",
    "403 other.example.org is not allowed: add it to setup.allow_hosts",
  ],
  ["another port", `${HOST}:22`, `403 ${HOST}:22 is not allowed: only HTTPS on port 443 is.`],
  ["an IPv4 address", "93.184.216.34:443", "403 Addresses are not connected to"],
  ["an IPv6 address", "[2606:2800::1]:443", "403 Addresses are not connected to"],
  ["an address in one number", "2130706433:443", "403 Addresses are not connected to"],
  ["an address in hexadecimal", "0x7f.1:443", "403 Addresses are not connected to"],
  ["a name with a user before it", `${HOST}@evil.example:443`, "400 The host and port"],
  ["a path behind it", `${HOST}:443/x`, "400 "],
  ["no port", HOST, "400 "],
  ["a port beyond all ports", `${HOST}:65536`, "400 "],
])(
  "%s is refused with a sentence, and nothing is resolved or dialled",
  async (_what, target, says) => {
    await using rig = await proxyRig();
    const said = await exchange(rig.socketPath, connectRequest(target));
    expect(said.split("\r\n")[0]).toContain(says);
    expect(rig.resolved).toEqual([]);
    expect(rig.dialled).toEqual([]);
  },
);

test("the sentence of a refusal is in the status line and in the body, and in the record", async () => {
  await using rig = await proxyRig({ phase: "agent" });
  const said = await exchange(rig.socketPath, connectRequest("evil.example:443"));
  const sentence =
    "evil.example is not allowed: add it to network.allow_hosts (--allow-host) to let it be reached.";
  expect(said.startsWith(`HTTP/1.1 403 ${sentence}\r\n`)).toBe(true);
  expect(said.endsWith(`\r\n\r\n${sentence}\n`)).toBe(true);
  expect(rig.entries).toMatchObject([
    { outcome: "refused", status: 403, host: "evil.example", reason: sentence },
  ]);
  expect(rig.proxy.totals()).toMatchObject({ requests: 1, refused: 1 });
});

test.each(["content-length: 5", "transfer-encoding: chunked"])(
  "a CONNECT request with %s is refused: two programs could disagree on where it ends",
  async (header) => {
    await using rig = await proxyRig();
    const said = await exchange(rig.socketPath, connectRequest(`${HOST}:443`, `${header}\r\n`));
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
    expect(rig.dialled).toEqual([]);
  },
);

test("a second CONNECT inside of the first is no TLS, and goes nowhere", async () => {
  await using server = await echo();
  await using rig = await proxyRig({ port: server.port });
  const inner = connectRequest("evil.example:443");
  const said = await exchange(rig.socketPath, connectRequest(`${HOST}:443`) + inner);
  expect(said).toBe("HTTP/1.1 200 Connection established\r\n\r\n");
  expect(server.received()).toHaveLength(0);
  expect(rig.entries).toMatchObject([
    {
      outcome: "refused",
      reason: `A connection to ${HOST} was ended: it does not begin with a TLS handshake.`,
    },
  ]);
});

test.each([
  ["for another host", "evil.example", "is for another host by its TLS handshake"],
  ["for no host", undefined, "does not say in its TLS handshake which host it is for"],
])("TLS %s is ended before a byte leaves, and written down", async (_what, name, says) => {
  await using server = await echo();
  await using rig = await proxyRig({ port: server.port });
  await exchange(rig.socketPath, connectRequest(`${HOST}:443`), await clientHello(name));
  expect(server.received()).toHaveLength(0);
  expect(rig.entries).toMatchObject([
    {
      outcome: "refused",
      reason: `A connection to ${HOST} was ended: it ${says}.`,
      requestBytes: 0,
    },
  ]);
});

test("a handshake that comes in pieces is put together", async () => {
  await using server = await echo();
  await using rig = await proxyRig({ port: server.port });
  const hello = await clientHello(HOST);
  const said = await new Promise<Buffer>((resolve) => {
    const socket = connect(rig.socketPath);
    let got = Buffer.alloc(0);
    socket.on("connect", () => socket.write(connectRequest(`${HOST}:443`)));
    socket.once("data", () => {
      const parts = [hello.subarray(0, 3), hello.subarray(3, 50), hello.subarray(50)];
      const send = (): void => {
        const part = parts.shift();
        if (part !== undefined) socket.write(part, () => setImmediate(send));
      };
      send();
      socket.on("data", (chunk: Buffer) => {
        got = Buffer.concat([got, chunk]);
        if (got.length === hello.length) socket.end();
      });
    });
    socket.on("close", () => resolve(got));
  });
  expect(said).toEqual(hello);
});

test("a handshake without an end is cut off", async () => {
  await using server = await echo();
  await using rig = await proxyRig({ port: server.port });
  const hello = await clientHello(HOST);
  // The same beginning, which promises more than any program sends.
  const endless = Buffer.concat([hello.subarray(0, 5), Buffer.from([1, 0xff, 0xff, 0xff])]);
  endless.writeUInt16BE(2 ** 14, 3);
  await exchange(rig.socketPath, connectRequest(`${HOST}:443`), endless);
  expect(server.received()).toHaveLength(0);
  expect(rig.entries[0]?.reason).toContain("begins with too long a handshake");
});

test("a handshake that does not come is not waited for", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await using server = await echo();
  await using rig = await proxyRig({ port: server.port });
  const socket = connect(rig.socketPath);
  socket.on("error", () => undefined);
  socket.write(connectRequest(`${HOST}:443`));
  await new Promise((resolve) => socket.once("data", resolve));
  socket.write((await clientHello(HOST)).subarray(0, 20));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  vi.advanceTimersByTime(60_000);
  await closed;
  expect(server.received()).toHaveLength(0);
  expect(rig.entries[0]?.reason).toContain("did not begin its TLS handshake in time");
});

test("plain HTTP is refused with what to do instead", async () => {
  await using rig = await proxyRig();
  const said = await exchange(
    rig.socketPath,
    `GET http://${HOST}/x HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`,
  );
  expect(said).toContain(
    `403 ${HOST} cannot be reached by plain HTTP: only HTTPS is passed on, so use an https address.`,
  );
  expect(rig.entries).toMatchObject([{ method: "GET", outcome: "refused", host: HOST }]);
});

test("what is no HTTP is answered and ends", async () => {
  await using rig = await proxyRig();
  expect(await exchange(rig.socketPath, "\u0016\u0003\u0001 nonsense\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 400 /,
  );
});

test("closing ends open tunnels, writes them down and takes the socket away", async () => {
  await using server = await echo();
  const rig = await proxyRig({ port: server.port });
  const socket = connect(rig.socketPath);
  socket.on("error", () => undefined);
  const hello = await clientHello(HOST);
  socket.write(connectRequest(`${HOST}:443`));
  await new Promise((resolve) => socket.once("data", resolve));
  const echoed = new Promise((resolve) => socket.once("data", resolve));
  socket.write(hello);
  await echoed;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await rig.proxy[Symbol.asyncDispose]();
  await closed;
  expect(rig.entries).toMatchObject([{ outcome: "answered", requestBytes: hello.length }]);
  expect(existsSync(rig.socketPath)).toBe(false);
  await rig[Symbol.asyncDispose]();
});

test("a host that does not answer is a failure with a sentence, not a refusal", async () => {
  const gone = await echo();
  const { port } = gone;
  await gone[Symbol.asyncDispose]();
  await using rig = await proxyRig({ port });
  const said = await exchange(rig.socketPath, connectRequest(`${HOST}:443`));
  expect(said).toContain(`502 ${HOST} could not be reached (ECONNREFUSED).`);
  expect(rig.entries).toMatchObject([{ outcome: "failed", status: 502 }]);
});
