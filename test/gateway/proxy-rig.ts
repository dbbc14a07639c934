import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import type { EgressEntry } from "../../src/core/egress.ts";
import { openHostProxy } from "../../src/gateway/proxy/host-proxy.ts";
import { type OpenWay, directly } from "../../src/gateway/proxy/outward.ts";

/** Addresses of the open internet, which no test connects to. */
export const PUBLIC = "93.184.216.34";

/** A server on 127.0.0.1 that answers every connection with what it got, and counts them. */
export async function echo() {
  const sockets = new Set<Socket>();
  let connections = 0;
  let received = Buffer.alloc(0);
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      socket.write(chunk);
    });
    socket.on("end", () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    received: () => received,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface ProxyRigOptions {
  readonly allowHosts?: readonly string[];
  readonly phase?: "setup" | "agent";
  /** What the resolver answers, one answer a call; the last one stays. */
  readonly answers?: readonly (readonly string[])[];
  /** Where every dialled connection really goes. */
  readonly port?: number;
  readonly open?: OpenWay;
}

/** The proxy on a socket of its own, with a resolver and a dialler of the test's. */
export async function proxyRig(options: ProxyRigOptions = {}) {
  const place = mkdtempSync(join(tmpdir(), "guardloop-proxy-"));
  // Closing removes the directory, and the one above when it is empty.
  const directory = join(place, "state", "run");
  mkdirSync(directory, { recursive: true });
  const entries: EgressEntry[] = [];
  const dialled: string[] = [];
  const resolved: string[] = [];
  const answers = [...(options.answers ?? [[PUBLIC]])];
  const open =
    options.open ??
    directly({
      resolve: async (host) => {
        resolved.push(host);
        return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
      },
      dial: (address, port) => {
        dialled.push(`${address}:${port}`);
        return connect({ host: "127.0.0.1", port: options.port ?? 1, allowHalfOpen: true });
      },
    });
  const opened = await openHostProxy({
    directory,
    phase: options.phase ?? "setup",
    allowHosts: options.allowHosts ?? ["registry.example.org"],
    sink: { add: (entry) => void entries.push(entry) },
    open,
    now: () => new Date("2026-01-01T00:00:00Z"),
  });
  if (!opened.ok) throw new Error(opened.error.message);
  const proxy = opened.value;
  return {
    entries,
    dialled,
    resolved,
    proxy,
    socketPath: proxy.socketPath,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** Sends bytes and collects everything until the other side closes. */
export function exchange(socketPath: string, ...parts: readonly (string | Buffer)[]) {
  return new Promise<string>((resolve) => {
    const socket = connect(socketPath);
    let said = Buffer.alloc(0);
    const waiting = [...parts];
    const next = (): void => {
      const part = waiting.shift();
      if (part !== undefined) socket.write(part);
    };
    socket.on("connect", next);
    socket.on("data", (chunk: Buffer) => {
      said = Buffer.concat([said, chunk]);
      next();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(said.toString("latin1")));
  });
}

export function connectRequest(target: string, headers = ""): string {
  return `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${headers}\r\n`;
}

/** A real ClientHello, as Node's TLS sends it. */
export function clientHello(servername: string | undefined): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (chunk: Buffer) => {
        resolve(chunk);
        socket.destroy();
        server.close();
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      const names = servername === undefined ? {} : { servername };
      const client = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ...names });
      client.on("error", () => undefined);
    });
  });
}
