import { describe, expect, test } from "vitest";
import { whyClosed } from "../../src/gateway/proxy/addresses.ts";
import { connectRequest, clientHello, echo, exchange, proxyRig, PUBLIC } from "./proxy-rig.ts";

const HOST = "registry.example.org";

describe("closed", () => {
  test.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.170",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.80",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "4000::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2606:2800::1%eth0",
    "localhost",
    "",
  ])("%s", (address) => {
    expect(whyClosed(address)).toMatch(/./);
  });
});

describe("open", () => {
  test.each([
    PUBLIC,
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.169.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
    "2001:4860::8888",
  ])("%s", (address) => {
    expect(whyClosed(address)).toBeUndefined();
  });
});

test("a name that leads into a private network is refused after resolution, and says where it leads", async () => {
  await using rig = await proxyRig({ answers: [["192.168.1.7"]] });
  const said = await exchange(rig.socketPath, connectRequest(`${HOST}:443`));
  expect(said).toContain(
    `403 ${HOST} leads to 192.168.1.7, which is a private network: only addresses`,
  );
  expect(rig.dialled).toEqual([]);
  expect(rig.entries).toMatchObject([{ outcome: "refused", status: 403, host: HOST }]);
});

test("one closed address among open ones refuses the host", async () => {
  await using rig = await proxyRig({ answers: [[PUBLIC, "169.254.169.254"]] });
  await exchange(rig.socketPath, connectRequest(`${HOST}:443`));
  expect(rig.dialled).toEqual([]);
});

test("a name that leads elsewhere the second time gains nothing: the address that was looked at is dialled", async () => {
  await using server = await echo();
  await using rig = await proxyRig({ answers: [[PUBLIC], ["127.0.0.1"]], port: server.port });
  await exchange(rig.socketPath, connectRequest(`${HOST}:443`), await clientHello("evil.example"));
  expect(rig.resolved).toEqual([HOST]);
  expect(rig.dialled).toEqual([`${PUBLIC}:443`]);
  // Asked again for another connection, it is looked at again.
  const second = await exchange(rig.socketPath, connectRequest(`${HOST}:443`));
  expect(second).toContain("403 ");
  expect(rig.dialled).toHaveLength(1);
});

test("an address that does not answer is followed by the next one", async () => {
  const gone = await echo();
  const { port } = gone;
  await gone[Symbol.asyncDispose]();
  await using rig = await proxyRig({ answers: [[PUBLIC, "1.1.1.1"]], port });
  await exchange(rig.socketPath, connectRequest(`${HOST}:443`));
  expect(rig.dialled).toEqual([`${PUBLIC}:443`, "1.1.1.1:443"]);
});

test("a name that has no address is a failure with the system's word for it", async () => {
  await using rig = await proxyRig({
    open: async () => ({
      ok: false,
      error: { kind: "failed", why: `${HOST} could not be resolved (ENOTFOUND).` },
    }),
  });
  const said = await exchange(rig.socketPath, connectRequest(`${HOST}:443`));
  expect(said).toContain("502 ");
});
