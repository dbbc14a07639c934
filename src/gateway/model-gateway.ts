import { listenOnSocket } from "./listen-on-socket.ts";
import { NOTHING_SENT } from "./nothing-sent.ts";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { EgressEntry, GatewaySpec } from "../core/egress.ts";
import { NO_EGRESS, withEntry } from "../core/egress-totals.ts";
import type { ProxySettings } from "../core/environment.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type GatewayContext, exchange } from "./exchange.ts";
import { GATEWAY_LIMITS, type GatewayLimits } from "./limits.ts";
import { limitWatch } from "./limit-watch.ts";
import type { Credential, EgressSink, Meter, OpenGateway } from "./port.ts";
import { PROVIDER_TABLE } from "./providers/table.ts";
import type { Refusal } from "./refusal.ts";
import { roomOf } from "./room.ts";
import { gatewayServer } from "./server.ts";
import { SOCKET_NAMES, removeSockets } from "./socket-place.ts";
import { shownTarget } from "./target.ts";
import { openUpstream } from "./upstream.ts";

export interface ModelGatewayOptions {
  readonly spec: Pick<GatewaySpec, "provider" | "upstream" | "serverTools" | "maxRequestBytes">;
  /** Of `socketDirectory`; it goes when the last gateway in it is closed. */
  readonly directory: string;
  /** Undefined where the upstream wants none. */
  readonly credential: Credential | undefined;
  readonly meter: Meter;
  readonly sink: EgressSink;
  /** From the host's environment. */
  readonly proxy: ProxySettings;
  readonly limits?: Partial<GatewayLimits>;
  readonly now?: () => Date;
}

/** The guest asks here how long a limit lasts; no API has such a path. */
const LIMIT_PATH = "/guardloop/limit";

/**
 * Opens the way from a run's container to its model API: an HTTP server on a Unix socket that lets one provider's
 * requests through to one fixed upstream, puts the credential in, and writes each request down when it is over.
 *
 * A client speaks to it as to `clientBaseUrl` (core/network.ts). Two of its answers are its own and nothing leaves the
 * host for them: GET /guardloop/limit, and HEAD /, by which Claude Code looks whether somebody is there.
 *
 * @returns gateway-failed when the socket cannot be made, or the proxy's settings cannot be used.
 */
export async function openModelGateway(
  options: ModelGatewayOptions,
): Promise<Result<OpenGateway, Failure>> {
  const { spec, sink, now = () => new Date() } = options;
  const limits = { ...GATEWAY_LIMITS, ...options.limits };
  const upstream = await openUpstream({
    address: spec.upstream,
    proxy: options.proxy,
    silenceMs: limits.upstreamSilenceMs,
  });
  if (!upstream.ok)
    return fail("gateway-failed", upstream.error, { cure: "Correct the variable." });
  let totals = NO_EGRESS;
  const record = (entry: EgressEntry): void => {
    totals = withEntry(totals, entry);
    sink.add(entry);
  };
  const watch = limitWatch(now);
  const { host, dispatcher } = upstream.value;
  const onRefused = (request: IncomingMessage | undefined, why: Refusal): void =>
    record(refusedEntry(request, why, { host, now }));
  const context: GatewayContext = {
    ...options,
    provider: PROVIDER_TABLE[spec.provider],
    upstream: upstream.value,
    limits,
    watch,
    room: roomOf(spec.maxRequestBytes * limits.largestBodies),
    record,
    now,
    brokenBecause: (request) => open.brokenBecause(request),
  };
  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!answersItself(request, response, watch)) await exchange(context, request, response);
  };
  const open = gatewayServer(limits, spec.maxRequestBytes, { onRequest, onRefused });
  const socketPath = join(options.directory, SOCKET_NAMES.model);
  const listening = await listenOnSocket(open.server, socketPath);
  if (!listening.ok) {
    await dispatcher.destroy();
    return fail(
      "gateway-failed",
      `The gateway's socket ${socketPath} cannot be made (${listening.error}).`,
    );
  }
  return ok({
    socketPath,
    totals: () => totals,
    async [Symbol.asyncDispose](): Promise<void> {
      open.server.close();
      open.server.closeAllConnections();
      await dispatcher.destroy();
      await open.settled();
      await removeSockets(options.directory, "model");
    },
  });
}

function answersItself(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  watch: ReturnType<typeof limitWatch>,
): boolean {
  if (method === "HEAD" && url === "/") {
    response.writeHead(200).end();
    return true;
  }
  if (method !== "GET" || url !== LIMIT_PATH) return false;
  const body = JSON.stringify(watch.state());
  response.writeHead(200, { "content-type": "application/json" }).end(`${body}\n`);
  return true;
}

/** Of a request that never came to be looked at. */
function refusedEntry(
  request: IncomingMessage | undefined,
  { status, outcome, reason }: Refusal,
  { host, now }: { readonly host: string; readonly now: () => Date },
): EgressEntry {
  const method = request?.method ?? "";
  const url = request?.url ?? "";
  const target =
    method === "CONNECT" ? { host: url.slice(0, 200), path: "" } : shownTarget(url, host);
  return {
    version: 1,
    at: now().toISOString(),
    kind: "model",
    phase: "agent",
    method: method.slice(0, 20),
    ...target,
    status,
    outcome,
    reason,
    ...NOTHING_SENT,
    totalMs: 0,
  };
}
