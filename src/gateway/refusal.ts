import type { ServerResponse } from "node:http";

/** The statuses the gateway answers with itself. */
export type OwnStatus = 400 | 403 | 408 | 413 | 415 | 417 | 431 | 502 | 504;

/** Why a request is not passed on, or its answer not passed back. */
export interface Refusal {
  readonly status: OwnStatus;
  /** `refused`: nothing left the host, or nothing of the answer came back. `failed`: the upstream's doing. */
  readonly outcome: "refused" | "failed";
  /** One sentence, or two, that an agent and its user understand; goes into the record as it is. */
  readonly reason: string;
}

export function refusal(status: OwnStatus, reason: string): Refusal {
  return { status, outcome: "refused", reason };
}

export function upstreamFailure(status: 502 | 504, reason: string): Refusal {
  return { status, outcome: "failed", reason };
}

/**
 * The body in the shape that clients of all providers show their user. `type` at the top is Anthropic's, `code` a
 * number and `status` are Google's.
 */
export function errorBody({ status, reason }: Refusal): string {
  const error = {
    type: "guardloop_gateway",
    code: status,
    status: status === 403 ? "PERMISSION_DENIED" : "FAILED_PRECONDITION",
    message: `guardloop's gateway: ${reason}`,
  };
  return `${JSON.stringify({ type: "error", error })}\n`;
}

/** How long what is left of a refused body is thrown away, so that its client comes to read the answer. */
const LINGER_MS = 2000;

/**
 * Answers a request that was not passed on, and ends its connection: what else is in it is not looked at. Nothing
 * happens where an answer has begun.
 */
export function answerRefusal(response: ServerResponse, why: Refusal): void {
  if (response.headersSent || response.destroyed) return;
  const body = errorBody(why);
  response.writeHead(why.status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    // OpenAI's and Anthropic's clients heed it: asking again would be refused again.
    ...(why.outcome === "refused" ? { "x-should-retry": "false" } : {}),
    connection: "close",
  });
  if (response.req.complete) {
    response.end(body);
    return;
  }
  // Closing a Unix socket that has unread bytes takes the answer away from the other side too.
  response.write(body);
  const finish = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(finish, LINGER_MS);
  response.req.once("end", finish).once("close", finish).resume();
}
