import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import type { EgressEntry } from "../../core/egress.ts";
import { errnoOf } from "../../core/errno.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { MOST_HELLO_BYTES, readHello } from "./client-hello.ts";
import { plainName } from "./host-rules.ts";

/** How a tunnel ended. */
export type TunnelEnd = Pick<
  EgressEntry,
  "outcome" | "reason" | "requestBytes" | "responseBytes" | "firstByteMs"
>;

/** Nothing in either direction for this long ends a tunnel. */
const IDLE_MS = 5 * 60_000;
const HELLO_MS = 15_000;

/** A whole ClientHello, with whatever came behind it. */
export interface Begun {
  readonly bytes: Buffer;
}

/**
 * Reads the beginning of what the client wants to send, without answering, until it is clear that it is TLS for exactly
 * this host.
 *
 * @param head what came right behind the request.
 * @returns a sentence for what is something else, and `gone` where the client went away.
 */
export function readBeginning(
  client: Duplex,
  host: string,
  head: Buffer,
): Promise<Result<Begun, { readonly kind: "refused" | "gone"; readonly why: string }>> {
  return new Promise((resolve) => {
    let bytes = head;
    const settle = (answer: Awaited<ReturnType<typeof readBeginning>>): void => {
      clearTimeout(late);
      client.off("data", onData).off("end", onEnd).off("close", onEnd);
      client.pause();
      resolve(answer);
    };
    const refuse = (why: string): void =>
      settle(err({ kind: "refused", why: `A connection to ${host} was ended: it ${why}.` }));
    const look = (): void => {
      const hello = readHello(bytes);
      if (hello.kind === "refused") refuse(hello.why);
      else if (hello.kind === "hello") {
        if (plainName(hello.serverName) === host) settle(ok({ bytes }));
        else refuse("is for another host by its TLS handshake");
      } else if (bytes.length > 2 * MOST_HELLO_BYTES) refuse("begins with too long a handshake");
    };
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      look();
    };
    const onEnd = (): void =>
      settle(err({ kind: "gone", why: "The client went away before it said anything." }));
    const late = setTimeout(() => refuse("did not begin its TLS handshake in time"), HELLO_MS);
    client.on("data", onData).once("end", onEnd).once("close", onEnd);
    if (bytes.length > 0) look();
  });
}

/** Passes bytes both ways until both sides are done, one of them breaks, or nothing moves any more. */
export function joinTunnel(client: Duplex, upstream: Socket, begun: Begun): Promise<TunnelEnd> {
  const start = performance.now();
  let requestBytes = begun.bytes.length;
  let responseBytes = 0;
  let firstByteMs: number | null = null;
  let problem: string | undefined;
  let first: "client" | "upstream" | undefined;
  return new Promise((resolve) => {
    const sides = [client, upstream] as const;
    let idle: NodeJS.Timeout;
    const end = (side: "client" | "upstream"): void => {
      first ??= side;
      clearTimeout(idle);
      for (const one of sides) one.destroy();
      if (!sides.every((one) => one.closed)) return;
      const outcome = outcomeOf({ responseBytes, first, problem });
      resolve({ ...outcome, requestBytes, responseBytes, firstByteMs });
    };
    const moved = (): void => {
      clearTimeout(idle);
      idle = setTimeout(() => end("client"), IDLE_MS);
    };
    upstream.on("error", (error) => (problem ??= errnoOf(error)));
    client.on("close", () => end("client"));
    upstream.on("close", () => end("upstream"));
    client.on("data", (chunk: Buffer) => {
      requestBytes += chunk.length;
      moved();
    });
    upstream.on("data", (chunk: Buffer) => {
      responseBytes += chunk.length;
      firstByteMs ??= Math.round(performance.now() - start);
      moved();
    });
    moved();
    upstream.write(begun.bytes);
    // Each direction ends by itself, and a slow reader is waited for.
    client.pipe(upstream);
    upstream.pipe(client);
    // One may have ended while the other was still being opened.
    for (const [index, one] of sides.entries())
      if (one.destroyed) end(index === 0 ? "client" : "upstream");
  });
}

function outcomeOf(at: {
  readonly responseBytes: number;
  /** Which side was gone first. */
  readonly first: "client" | "upstream";
  readonly problem: string | undefined;
}): Pick<TunnelEnd, "outcome" | "reason"> {
  if (at.responseBytes > 0) return { outcome: "answered", reason: null };
  if (at.first === "client") return { outcome: "cut", reason: null };
  const why = at.problem === undefined ? "closed the connection" : `broke off (${at.problem})`;
  return { outcome: "failed", reason: `The host ${why} before it answered.` };
}
