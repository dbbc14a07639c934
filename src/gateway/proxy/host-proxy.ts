import { type IncomingMessage, STATUS_CODES, createServer } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { EgressEntry } from "../../core/egress.ts";
import { NO_EGRESS, withEntry } from "../../core/egress-totals.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { listenOnSocket } from "../listen-on-socket.ts";
import { NOTHING_SENT } from "../nothing-sent.ts";
import type { EgressSink, OpenGateway } from "../port.ts";
import { SOCKET_NAMES, removeSockets } from "../socket-place.ts";
import { isAllowed, readTarget } from "./host-rules.ts";
import { type OpenWay, TLS_PORT } from "./outward.ts";
import { joinTunnel, readBeginning } from "./tunnel.ts";

export interface HostProxyOptions {
  /** Of the run's sockets; see `socketDirectory`. */
  readonly directory: string;
  readonly phase: EgressEntry["phase"];
  /** Host names, exact or `*.` and a suffix. */
  readonly allowHosts: readonly string[];
  readonly sink: EgressSink;
  readonly open: OpenWay;
  readonly now: () => Date;
}

/** Which setting lets a host in, for the sentence of a refusal. */
const SETTING: Readonly<Record<EgressEntry["phase"], string>> = {
  setup: "setup.allow_hosts",
  agent: "network.allow_hosts (--allow-host)",
};
/** At once. Package managers keep some dozens; more of them is a program gone wild. */
const MOST_CONNECTIONS = 128;
const HEADER_MS = 15_000;
const MOST_HEADER_BYTES = 16 * 1024;
const SHOWN_CHARACTERS = 253;

/**
 * Opens an HTTP proxy on a Unix socket that lets HTTPS connections to allowed hosts through and nothing else: CONNECT to
 * port 443 of an allowed name, whose address is one of the open internet, and on which the client begins TLS for that
 * same name. TLS itself is passed on unopened.
 *
 * @returns `gateway-failed` when the socket cannot be had.
 */
export async function openHostProxy(
  options: HostProxyOptions,
): Promise<Result<OpenGateway, Failure>> {
  const server = createServer({
    headersTimeout: HEADER_MS,
    requestTimeout: HEADER_MS,
    maxHeaderSize: MOST_HEADER_BYTES,
  });
  let totals = NO_EGRESS;
  const sockets = new Set<Duplex>();
  const underWay = new Set<Promise<void>>();
  const serving: Serving = {
    ...options,
    record: (entry) => {
      totals = withEntry(totals, entry);
      options.sink.add(entry);
    },
  };
  server.maxConnections = MOST_CONNECTIONS;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  server.on("connect", (request, client, head) => {
    const handled = serve(serving, { request, client, head }).finally(() => {
      client.destroy();
      underWay.delete(handled);
    });
    underWay.add(handled);
  });
  server.on("request", (request, response) => {
    const why = refusePlain(request);
    serving.record(entryOf(serving, { request, host: plainHost(request), status: 403, why }));
    response.writeHead(403, why, { "content-type": "text/plain", connection: "close" });
    response.end(`${why}\n`);
  });
  server.on("clientError", (_error, client) => {
    void answer(client, 400, "This is no HTTP request.");
  });
  const socketPath = join(options.directory, SOCKET_NAMES.proxy);
  const listening = await listenOnSocket(server, socketPath);
  if (!listening.ok)
    return fail(
      "gateway-failed",
      `The proxy to allowed hosts could not be opened at ${socketPath} (${listening.error}).`,
    );
  return ok({
    socketPath,
    totals: () => totals,
    async [Symbol.asyncDispose](): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await Promise.allSettled(underWay);
      await closed;
      await removeSockets(options.directory, "proxy");
    },
  });
}

interface Serving extends HostProxyOptions {
  readonly record: (entry: EgressEntry) => void;
}

interface Connect {
  readonly request: IncomingMessage;
  readonly client: Duplex;
  readonly head: Buffer;
}

/** One CONNECT request to its end; exactly one entry of the record. */
async function serve(serving: Serving, { request, client, head }: Connect): Promise<void> {
  const start = performance.now();
  const at = serving.now().toISOString();
  const finish = (entry: Parts): void =>
    serving.record({
      ...entryOf(serving, { request, ...entry }),
      at,
      totalMs: Math.round(performance.now() - start),
    });
  const target = allowedTarget(request, serving);
  if (!target.ok) {
    const { asked, status, why } = target.error;
    finish({ host: asked, status, why });
    return answer(client, status, why);
  }
  const host = target.value;
  const way = await serving.open(host);
  if (!way.ok) {
    const status = way.error.kind === "refused" ? 403 : 502;
    finish({ host, status, why: way.error.why, outcome: way.error.kind });
    return answer(client, status, way.error.why);
  }
  const { socket, by } = way.value;
  const passed = by === "address" ? {} : ({ way: by } as const);
  try {
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    const begun = await readBeginning(client, host, head);
    if (!begun.ok) {
      const { kind, why } = begun.error;
      const outcome = kind === "gone" ? "cut" : "refused";
      return finish({ host, status: 200, why: kind === "gone" ? null : why, outcome, ...passed });
    }
    const { reason: why, ...end } = await joinTunnel(client, socket, begun.value);
    finish({ host, status: 200, why, ...end, ...passed });
  } finally {
    socket.destroy();
  }
}

/** The host, as it is compared; or why not, to be answered and recorded. */
function allowedTarget(
  { url = "", headers }: IncomingMessage,
  { allowHosts, phase }: HostProxyOptions,
): Result<string, { readonly asked: string; readonly status: 400 | 403; readonly why: string }> {
  const refused = (status: 400 | 403, why: string, asked = url) =>
    err({ asked, status, why } as const);
  // Of a CONNECT there is no body (RFC 9110, section 9.3.6); with one, two programs may disagree on where it ends.
  if (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined)
    return refused(400, "A CONNECT request with a body is not taken.");
  const target = readTarget(url);
  if (target.kind === "malformed")
    return refused(400, "The host and port that are asked for cannot be read.");
  if (target.kind === "address")
    return refused(403, "Addresses are not connected to, only host names that are allowed.");
  const { host, port } = target;
  if (port !== TLS_PORT)
    return refused(403, `${host}:${port} is not allowed: only HTTPS on port ${TLS_PORT} is.`);
  if (isAllowed(host, allowHosts)) return ok(host);
  const why = `${host} is not allowed: add it to ${SETTING[phase]} to let it be reached.`;
  return refused(403, why, host);
}

function refusePlain(request: IncomingMessage): string {
  const host = plainHost(request);
  return host === ""
    ? "This is a proxy for HTTPS connections, and no server."
    : `${host} cannot be reached by plain HTTP: only HTTPS is passed on, so use an https address.`;
}

/** Empty for a request that names no host. */
function plainHost({ url = "" }: IncomingMessage): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

interface Parts extends Partial<
  Pick<EgressEntry, "outcome" | "requestBytes" | "responseBytes" | "firstByteMs" | "way">
> {
  readonly host: string;
  readonly status: number;
  readonly why: string | null;
}

function entryOf(
  { phase, now }: HostProxyOptions,
  { request, host, status, why, ...rest }: Parts & { readonly request: IncomingMessage },
): EgressEntry {
  return {
    version: 1,
    at: now().toISOString(),
    kind: "host",
    phase,
    method: (request.method ?? "").slice(0, SHOWN_CHARACTERS),
    host: host.slice(0, SHOWN_CHARACTERS),
    path: "",
    status,
    outcome: "refused",
    reason: why,
    ...NOTHING_SENT,
    totalMs: 0,
    ...rest,
  };
}

/** The sentence stands in the status line too: that is what most programs show of a refused CONNECT. */
async function answer(client: Duplex, status: 400 | 403 | 502, sentence: string): Promise<void> {
  if (!client.writable) return;
  const phrase = /^[\x20-\x7e]*$/.test(sentence) ? sentence : (STATUS_CODES[status] ?? "");
  const body = `${sentence}\n`;
  const text = `HTTP/1.1 ${status} ${phrase}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
  await new Promise<void>((resolve) => client.end(text, () => resolve()));
}
