import type { IncomingMessage, ServerResponse } from "node:http";
import type { EgressEntry, GatewaySpec } from "../core/egress.ts";
import { type Result, err, ok } from "../core/result.ts";
import { checkHead, checkTools } from "./check-request.ts";
import { type Outgoing, type Sent, forward } from "./forward.ts";
import { requestHeaders } from "./headers.ts";
import type { GatewayLimits } from "./limits.ts";
import type { limitWatch } from "./limit-watch.ts";
import type { AdmittedRequest, Credential, Meter } from "./port.ts";
import { isObject, textOf } from "./providers/json.ts";
import type { Headers, Provider, Route } from "./providers/provider.ts";
import { type Refusal, answerRefusal, refusal, upstreamFailure } from "./refusal.ts";
import { type CheckedBody, readBody } from "./request-body.ts";
import { NOTHING_SENT } from "./nothing-sent.ts";
import type { HeldRoom, Room } from "./room.ts";
import { shownTarget } from "./target.ts";
import type { Upstream } from "./upstream.ts";

/** What all requests of a gateway have in common. */
export interface GatewayContext {
  readonly spec: Pick<GatewaySpec, "serverTools" | "maxRequestBytes">;
  readonly provider: Provider;
  readonly upstream: Upstream;
  /** Undefined where the upstream wants none. */
  readonly credential: Credential | undefined;
  readonly meter: Meter;
  readonly limits: GatewayLimits;
  readonly watch: ReturnType<typeof limitWatch>;
  readonly room: Room;
  readonly record: (entry: EgressEntry) => void;
  readonly now: () => Date;
  /** Why the parser gave a connection up, if it did. */
  readonly brokenBecause: (request: IncomingMessage) => Refusal | undefined;
}

type Ending = Pick<
  EgressEntry,
  "status" | "outcome" | "reason" | "requestBytes" | "responseBytes" | "model" | "tokens"
> &
  Pick<EgressEntry, "costUsd" | "firstByteMs">;

/** A request that may go out. */
interface Ready {
  readonly route: Route;
  readonly body: CheckedBody | undefined;
  readonly model: string | null;
  readonly headers: Headers;
  readonly admitted: AdmittedRequest;
}

/** One request from its head to its line in the record. Never rejects. */
export async function exchange(
  context: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const at = context.now().toISOString();
  const startedAt = performance.now();
  using held = context.room.hold();
  const ready = await prepare(context, request, held);
  const ending = ready.ok
    ? await send(context, ready.value, response)
    : refused(ready.error, response);
  context.record({
    version: 1,
    at,
    kind: "model",
    phase: "agent",
    method: (request.method ?? "").slice(0, 20),
    ...shownTarget(request.url ?? "", context.upstream.host),
    ...ending,
    totalMs: performance.now() - startedAt,
  });
}

async function prepare(
  context: GatewayContext,
  request: IncomingMessage,
  held: HeldRoom,
): Promise<Result<Ready, Refusal | "cut">> {
  const { provider, meter } = context;
  const route = checkHead(request, provider);
  if (!route.ok) return route;
  const exhausted = meter.exhausted();
  if (exhausted !== undefined) return err(refusal(403, exhausted));
  const body = await checkedBody(context, request, held);
  if (!body.ok) return body;
  const model = modelOf(route.value, body.value);
  const headers = await withCredential(context, requestHeaders(request.headers, provider));
  if (!headers.ok) return headers;
  if (request.socket.destroyed) return err("cut");
  const admitted = meter.admit({ model, requestBytes: body.value?.bytes.length ?? 0 });
  if (!admitted.ok) return err(refusal(403, admitted.error));
  return ok({
    route: route.value,
    body: body.value,
    model,
    headers: headers.value,
    admitted: admitted.value,
  });
}

async function checkedBody(
  context: GatewayContext,
  request: IncomingMessage,
  room: HeldRoom,
): Promise<Result<CheckedBody | undefined, Refusal | "cut">> {
  const { spec, limits, provider } = context;
  if (request.method === "GET") return ok(undefined);
  const { maxRequestBytes } = spec;
  const body = await readBody(request, { maxRequestBytes, bodyMs: limits.bodyMs, room });
  if (!body.ok)
    return err(body.error === "cut" ? (context.brokenBecause(request) ?? "cut") : body.error);
  const tools = checkTools(provider.serverTools(body.value.json), spec.serverTools);
  return tools === undefined ? body : err(tools);
}

async function withCredential(
  { credential, provider }: GatewayContext,
  client: Headers,
): Promise<Result<Headers, Refusal>> {
  if (credential === undefined) return ok(client);
  const value = await credential.value();
  if (!value.ok) return err(upstreamFailure(502, value.error));
  return ok({ ...client, ...provider.authorize(value.value, client) });
}

function modelOf(route: Route, body: CheckedBody | undefined): string | null {
  const named = isObject(body?.json) ? textOf(body.json["model"]) : undefined;
  return (route.model ?? named)?.slice(0, 200) ?? null;
}

async function send(
  context: GatewayContext,
  ready: Ready,
  response: ServerResponse,
): Promise<Ending> {
  const { route, model, admitted } = ready;
  const sent = await forward(outgoing(context, ready), response);
  const isModel = route.use === "model";
  if (sent.answer !== null && isModel) {
    const limit = context.watch.look(sent.answer);
    if (limit !== undefined) context.meter.sawLimit(limit);
  }
  const tokens = isModel ? sent.tokens : null;
  if (sent.reached === "no") {
    admitted.withdrawn();
    return { ...NOTHING_SENT, ...told(sent), model };
  }
  const requestBytes = ready.body?.bytes.length ?? 0;
  const costUsd = admitted.used({ model, tokens });
  return { ...told(sent), requestBytes, model, tokens, costUsd };
}

function outgoing(context: GatewayContext, { route, body, headers }: Ready): Outgoing {
  const { upstream, provider, limits } = context;
  const { clientSilenceMs } = limits;
  const to = { upstream, provider, path: route.upstreamPath, clientSilenceMs };
  if (body === undefined) return { ...to, method: "GET", headers, body: null };
  const typed = { ...headers, "content-type": "application/json" };
  return { ...to, method: "POST", headers: typed, body: body.bytes };
}

function told({ status, outcome, reason, responseBytes, firstByteMs }: Sent) {
  return { status, outcome, reason, responseBytes, firstByteMs };
}

function refused(why: Refusal | "cut", response: ServerResponse): Ending {
  if (why === "cut") return { ...NOTHING_SENT, status: null, outcome: "cut", reason: null };
  answerRefusal(response, why);
  return { ...NOTHING_SENT, status: why.status, outcome: why.outcome, reason: why.reason };
}
