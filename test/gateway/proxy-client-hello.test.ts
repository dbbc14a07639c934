import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readHello } from "../../src/gateway/proxy/client-hello.ts";
import { clientHello } from "./proxy-rig.ts";

const HOST = "registry.example.org";

/** A ClientHello with these extensions, in one record. */
function hello(...extensions: readonly Buffer[]): Buffer {
  const list = Buffer.concat(extensions);
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32),
    Buffer.from([0, 0, 2, 0x13, 1, 1, 0]),
    sized(list),
  ]);
  const message = Buffer.concat([Buffer.from([1, 0, body.length >> 8, body.length & 255]), body]);
  return record(message);
}

function record(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(bytes)]);
}

function sized(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
}

function extension(type: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 255]), sized(body)]);
}

function serverName(...names: readonly string[]): Buffer {
  const list = names.map((name) => Buffer.concat([Buffer.from([0]), sized(Buffer.from(name))]));
  return extension(0, sized(Buffer.concat(list)));
}

test("the name in a program's own hello is read, however it is cut into pieces", async () => {
  const bytes = await clientHello(HOST);
  expect(readHello(bytes)).toEqual({ kind: "hello", serverName: HOST });
  for (let length = 0; length < bytes.length; length += 1)
    expect(readHello(bytes.subarray(0, length))).toEqual({ kind: "incomplete" });
});

test("a hello that lies in several records is read as one", () => {
  const message = hello(serverName(HOST)).subarray(5);
  const parts = [message.subarray(0, 2), message.subarray(2, 40), message.subarray(40)];
  expect(readHello(Buffer.concat(parts.map(record)))).toEqual({ kind: "hello", serverName: HOST });
});

test.each([
  ["no name", hello(), "does not say"],
  ["two names", hello(serverName(HOST, "evil.example")), "names several hosts"],
  [
    "the extension twice",
    hello(serverName(HOST), serverName("evil.example")),
    "names several hosts",
  ],
  [
    "an encrypted hello inside",
    hello(serverName(HOST), extension(0xfe0d, Buffer.alloc(8))),
    "hides",
  ],
  ["an empty name", hello(serverName("")), "does not say"],
  ["a server's hello", record(Buffer.from([2, 0, 0, 0])), "does not begin with a TLS"],
  ["HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "does not begin with a TLS"],
  ["SSH", Buffer.from("SSH-2.0-x\r\n"), "does not begin with a TLS"],
  ["SSL 2", Buffer.from([0x80, 0x2e, 1, 0, 2]), "does not begin with a TLS"],
  ["an empty record", Buffer.from([22, 3, 1, 0, 0]), "does not begin with a TLS"],
  [
    "lengths that do not agree",
    record(Buffer.from([1, 0, 0, 3, 3, 3, 9])),
    "does not begin with a TLS",
  ],
])("%s is refused", (_what, bytes, why) => {
  expect(readHello(bytes)).toMatchObject({ kind: "refused", why: expect.stringContaining(why) });
});

test("no bytes at all make it throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      readHello(Buffer.concat([Buffer.from([22, 3, 1, 0, 195, 1, 0, 0, 191]), bytes]));
      expect(["incomplete", "refused", "hello"]).toContain(readHello(Buffer.from(bytes)).kind);
    }),
  );
});
