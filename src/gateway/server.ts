import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { Duplex } from "node:stream";
import { errnoOf } from "../core/errno.ts";
import type { GatewayLimits } from "./limits.ts";
import { type Refusal, errorBody, refusal } from "./refusal.ts";

/** What comes in, once it is known to be HTTP. */
export interface Incoming {
  /** An ordinary request. Must settle, whatever happens to the connection. */
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** A request that was refused here, without its being looked at further. */
  readonly onRefused: (request: IncomingMessage | undefined, why: Refusal) => void;
}

/** How the parser's complaints are called (llhttp's codes and Node's), and what a person is told. */
const PROBLEMS: readonly (readonly [RegExp, Refusal])[] = [
  [/^HPE_HEADER_OVERFLOW$/, refusal(431, "The request's headers are too large.")],
  [/^ERR_HTTP_REQUEST_TIMEOUT$/, refusal(408, "The request took too long to arrive.")],
];
const HELD_BYTES = 512 * 1024;
const GARBLED = refusal(400, "The request is not well-formed HTTP/1.1.");
const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  408: "Request Timeout",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
};

/**
 * An HTTP/1.1 server with Node's strict parser: two lengths, a length and chunks, folded headers and the like end the
 * connection. CONNECT and upgrades are refused, and so is every expectation but `100-continue`.
 */
export function gatewayServer(limits: GatewayLimits, maxRequestBytes: number, incoming: Incoming) {
  const broken = new WeakMap<object, Refusal>();
  const answering = new WeakMap<object, ServerResponse>();
  const underWay = new Set<Promise<void>>();
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    answering.set(request.socket, response);
    const work = incoming.onRequest(request, response);
    underWay.add(work);
    void work.finally(() => {
      underWay.delete(work);
      if (answering.get(request.socket) === response) answering.delete(request.socket);
    });
  };
  const server = createServer(optionsOf(limits));
  server.maxConnections = limits.connections;
  server.on("request", take);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    // Only for what may come: a refusal is the better answer to a body that need not be sent.
    if (Number(request.headers["content-length"] ?? 0) <= maxRequestBytes) response.writeContinue();
    take(request, response);
  });
  refuseOddities(server, incoming);
  server.on("clientError", (error: Error, socket: Duplex) => {
    const code = errnoOf(error);
    if (code === "ECONNRESET" || code === "EPIPE") {
      socket.destroy();
      return;
    }
    const why = PROBLEMS.find(([pattern]) => pattern.test(code))?.[1] ?? GARBLED;
    const response = answering.get(socket);
    broken.set(socket, why);
    if (response === undefined) incoming.onRefused(undefined, why);
    if (response?.headersSent === true) socket.destroy();
    else refuseRaw(socket, why);
  });
  return {
    server,
    brokenBecause: ({ socket }: IncomingMessage): Refusal | undefined => broken.get(socket),
    /** Every request that came has been recorded. */
    async settled(): Promise<void> {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

function optionsOf(limits: GatewayLimits) {
  return {
    insecureHTTPParser: false,
    // The gateway looks at it itself, and writes down what it refuses.
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    // Behind the gateway's own limit for a body, which can say more.
    requestTimeout: limits.headerMs + limits.bodyMs + 5000,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(5000, Math.ceil(limits.headerMs / 2)),
    noDelay: true,
    // Of each connection, and so the most that is held of an answer; Node's own 16 KiB would stop at every read.
    highWaterMark: HELD_BYTES,
  };
}

function refuseOddities(server: Server, { onRefused }: Incoming): void {
  const refuse = (why: Refusal) => (request: IncomingMessage, socket: Duplex) => {
    // The socket has no listener of Node's any more.
    socket.on("error", () => socket.destroy());
    onRefused(request, why);
    refuseRaw(socket, why);
  };
  server.on(
    "connect",
    refuse(
      refusal(
        403,
        "It is no proxy: CONNECT is refused, and the model API is reached by its paths.",
      ),
    ),
  );
  server.on(
    "upgrade",
    refuse(refusal(403, "It speaks HTTP/1.1 alone: WebSockets and other upgrades are refused.")),
  );
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    const why = refusal(417, "It knows no Expect header but 100-continue.");
    onRefused(request, why);
    refuseRaw(request.socket, why);
    response.destroy();
  });
}

/** On a connection that has no response object to answer with. */
function refuseRaw(socket: Duplex, why: Refusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = errorBody(why);
  const head = [
    `HTTP/1.1 ${why.status} ${REASONS[why.status] ?? "Refused"}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
