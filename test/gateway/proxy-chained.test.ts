import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { hostsProxy, isExcepted, throughProxy } from "../../src/gateway/proxy/https-proxy.ts";
import { clientHello, connectRequest, echo, exchange, proxyRig } from "./proxy-rig.ts";

const HOST = "registry.example.org";

/** The proxy of a company: takes every CONNECT to the given port, or answers otherwise. */
async function company(port: number, answer = "HTTP/1.1 200 OK\r\n\r\n") {
  const asked: string[] = [];
  const server = createServer((client) => {
    client.on("error", () => undefined);
    client.once("data", (chunk: Buffer) => {
      asked.push(chunk.toString("latin1"));
      client.write(answer);
      if (!answer.includes(" 200 ")) return void client.end();
      const upstream = connect({ port, host: "127.0.0.1" });
      upstream.on("error", () => client.destroy());
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://user:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, address, [Symbol.dispose]: () => void server.close() };
}

function open(address: string) {
  const found = hostsProxy({ httpsProxy: address, noProxy: "" });
  if (!found.ok || found.value === undefined) throw new Error("no proxy");
  return throughProxy(found.value);
}

test("a host that has a proxy of its own is reached through it, with its login, and the record says so", async () => {
  await using server = await echo();
  using proxy = await company(server.port);
  await using rig = await proxyRig({ open: open(proxy.address) });
  const hello = await clientHello(HOST);
  const socket = connect(rig.socketPath);
  socket.write(connectRequest(`${HOST}:443`));
  await new Promise((resolve) => socket.once("data", resolve));
  const echoed = new Promise((resolve) => socket.once("data", resolve));
  socket.write(hello);
  expect(await echoed).toEqual(hello);
  socket.end();
  expect(proxy.asked[0]).toContain(`CONNECT ${HOST}:443 HTTP/1.1\r\n`);
  expect(proxy.asked[0]).toContain(`Basic ${Buffer.from("user:p@ss").toString("base64")}\r\n`);
  await expect
    .poll(() => rig.entries)
    .toMatchObject([{ outcome: "answered", way: "https-proxy", requestBytes: hello.length }]);
});

test.each([
  ["refuses", "HTTP/1.1 407 Login\r\n\r\n", "it answered 407"],
  ["speaks before its turn", "HTTP/1.1 200 OK\r\n\r\nhello", "it spoke before its turn"],
])("a proxy that %s is a failure that names it, without its login", async (_what, answer, says) => {
  using proxy = await company(1, answer);
  await using rig = await proxyRig({ open: open(proxy.address) });
  const said = await exchange(rig.socketPath, connectRequest(`${HOST}:443`));
  expect(said).toContain(`502 ${HOST} could not be reached through the proxy 127.0.0.1:`);
  expect(said).toContain(says);
  expect(said).not.toContain("p%40ss");
});

test("the user's settings of the proxy are read as other programs read them", () => {
  expect(hostsProxy({ httpsProxy: undefined, noProxy: "" })).toEqual({
    ok: true,
    value: undefined,
  });
  const found = hostsProxy({
    httpsProxy: "proxy.example:3128",
    noProxy: "localhost, .corp.example",
  });
  if (!found.ok || found.value === undefined) throw new Error("no proxy");
  expect(found.value.url.host).toBe("proxy.example:3128");
  expect(isExcepted("npm.corp.example", found.value)).toBe(true);
  expect(isExcepted("corp.example", found.value)).toBe(true);
  expect(isExcepted("notcorp.example", found.value)).toBe(false);
  expect(hostsProxy({ httpsProxy: "socks5://me:secret@proxy.example", noProxy: "" })).toEqual({
    ok: false,
    error: "The proxy in HTTPS_PROXY is not an address that begins with http:// or https://.",
  });
});
