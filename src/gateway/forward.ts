import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import type { TokenUse } from "../core/egress.ts";
import { type AnswerTap, answerTap } from "./answer-tap.ts";
import { responseHeaders } from "./headers.ts";
import type { Headers, Provider } from "./providers/provider.ts";
import { type Refusal, answerRefusal, refusal } from "./refusal.ts";
import { inputOnly, tokensUsed } from "./token-estimate.ts";
import type { Upstream } from "./upstream.ts";
import { upstreamError } from "./upstream-error.ts";

export interface Outgoing {
  readonly upstream: Upstream;
  readonly provider: Provider;
  readonly method: "GET" | "POST";
  /** Behind the base address. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer | null;
  /** How long the client may take nothing of an answer that is there. */
  readonly clientSilenceMs: number;
}

/** How a request that was let through came to its end. */
export interface Sent {
  readonly outcome: "answered" | "refused" | "failed" | "cut";
  /** That the client got. */
  readonly status: number | null;
  readonly reason: string | null;
  readonly responseBytes: number;
  readonly firstByteMs: number | null;
  /** `no`: no byte of it went out. */
  readonly reached: "yes" | "no";
  /** As if it was about a model; null where the answer says that nothing was used, and where there was none. */
  readonly tokens: TokenUse | null;
  /** For the limits it may speak of; null where no answer came. */
  readonly answer: {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly json: unknown;
  } | null;
}

type How = Pick<Sent, "outcome" | "status" | "reason">;

const CUT = new Error("The client went away.");
const REDIRECT = new Error("The answer is a redirect.");

/**
 * Sends a request and passes the answer back as it comes: no more of it is held than a connection's buffers and what the tap keeps.
 * When either side breaks off, this request ends and no other. Never rejects.
 */
export function forward(outgoing: Outgoing, response: ServerResponse): Promise<Sent> {
  const { upstream, method, headers, body } = outgoing;
  return new Promise((resolve) => {
    const handler = passing(outgoing, response, resolve);
    const path = upstream.basePath + outgoing.path;
    const call = { origin: upstream.origin, path, method, headers, body };
    try {
      upstream.dispatcher.dispatch(call, handler);
    } catch (error) {
      // A header that cannot be sent, for example a credential with a line feed in it.
      handler.onResponseError(undefined, error);
    }
  });
}

/** What is known of a request while it goes on. */
interface UnderWay {
  readonly startedAt: number;
  readonly requestBytes: number;
  controller: Dispatcher.DispatchController | undefined;
  answer: { readonly status: number; readonly headers: IncomingHttpHeaders } | undefined;
  tap: AnswerTap | undefined;
  firstByteMs: number | null;
  responseBytes: number;
  /** Chunks of the answer that are written when this turn of the event loop ends. */
  waiting: Buffer[];
  stall: NodeJS.Timeout | undefined;
}

function passing(outgoing: Outgoing, response: ServerResponse, done: (sent: Sent) => void) {
  const { provider, upstream, clientSilenceMs } = outgoing;
  const on: UnderWay = {
    startedAt: performance.now(),
    requestBytes: outgoing.body?.length ?? 0,
    controller: undefined,
    answer: undefined,
    tap: undefined,
    firstByteMs: null,
    responseBytes: 0,
    waiting: [],
    stall: undefined,
  };
  const onClose = (): void => {
    if (!response.writableFinished) on.controller?.abort(CUT);
  };
  response.once("close", onClose);
  const settle = (how: How, ended: "whole" | "cut-off"): void => {
    clearTimeout(on.stall);
    response.off("close", onClose);
    done(sentOf(on, how, ended));
  };
  const flush = (): void => writeWaiting(on, response, clientSilenceMs);
  return {
    onRequestStart(controller: Dispatcher.DispatchController): void {
      on.controller = controller;
      if (response.destroyed) controller.abort(CUT);
    },
    onResponseStart(
      controller: Dispatcher.DispatchController,
      status: number,
      headers: IncomingHttpHeaders,
    ): void {
      if (status < 200) return;
      on.firstByteMs = performance.now() - on.startedAt;
      on.answer = { status, headers };
      if (status >= 300 && status < 400) {
        controller.abort(REDIRECT);
        return;
      }
      on.tap = answerTap(provider.usageReader(), headers["content-type"] ?? "");
      response.writeHead(status, responseHeaders(headers, provider));
      response.flushHeaders();
    },
    onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
      on.responseBytes += chunk.length;
      // What was read at once is written at once, at the end of this turn: a stream has an event in each small chunk.
      if (on.waiting.push(chunk) === 1) queueMicrotask(flush);
    },
    onResponseEnd(): void {
      flush();
      on.tap?.end();
      response.end();
      settle({ outcome: "answered", status: on.answer?.status ?? null, reason: null }, "whole");
    },
    onResponseError(_controller: unknown, error: unknown): void {
      flush();
      on.tap?.end();
      const isCut = error === CUT || response.destroyed;
      settle(isCut ? cutEnding(on, response) : brokenEnding(error, response, upstream), "cut-off");
    },
  };
}

/** Lets the upstream wait while the client does not take what is there. */
function writeWaiting(on: UnderWay, response: ServerResponse, clientSilenceMs: number): void {
  const [first, ...others] = on.waiting;
  if (first === undefined) return;
  const bytes = others.length === 0 ? first : Buffer.concat(on.waiting);
  on.waiting = [];
  on.tap?.take(bytes);
  if (response.write(bytes)) return;
  on.controller?.pause();
  on.stall = setTimeout(() => response.destroy(), clientSilenceMs);
  response.once("drain", () => {
    clearTimeout(on.stall);
    on.controller?.resume();
  });
}

function sentOf(on: UnderWay, how: How, ended: "whole" | "cut-off"): Sent {
  const { answer, tap, responseBytes, firstByteMs } = on;
  const reached = on.controller === undefined ? "no" : "yes";
  const said = answer === undefined ? null : { ...answer, json: tap?.json() };
  return {
    ...how,
    responseBytes,
    firstByteMs,
    reached,
    tokens: tokensOf(on, how, ended),
    answer: said,
  };
}

function tokensOf(on: UnderWay, how: How, ended: "whole" | "cut-off"): TokenUse | null {
  const { answer, tap, requestBytes } = on;
  if (answer === undefined || tap === undefined) {
    const mayHaveBegun = how.outcome === "cut" && on.controller !== undefined;
    return mayHaveBegun ? inputOnly(requestBytes) : null;
  }
  if (answer.status >= 400 && tap.seen() === undefined) return null;
  return tokensUsed(tap, ended, { request: requestBytes, response: on.responseBytes });
}

/** Answers the client where it has no answer yet; half an answer must not look like a whole one. */
function brokenEnding(error: unknown, response: ServerResponse, { host }: Upstream): How {
  const why = error === REDIRECT ? redirected(host) : upstreamError(error, host);
  const { outcome, reason } = why;
  if (!response.headersSent) {
    answerRefusal(response, why);
    return { outcome, status: why.status, reason };
  }
  response.destroy();
  return { outcome, status: response.statusCode, reason };
}

/** A client may go when it has read all that matters to it: the last event is then the answer's end. */
function cutEnding({ tap }: UnderWay, response: ServerResponse): How {
  const isWhole = tap?.seen()?.final === true;
  const status = response.headersSent ? response.statusCode : null;
  return { outcome: isWhole ? "answered" : "cut", status, reason: null };
}

function redirected(host: string): Refusal {
  return refusal(
    502,
    `${host} answered with a redirect to another address, and redirects are not followed; the user can correct the [upstream] setting.`,
  );
}
