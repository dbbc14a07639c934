import { lookup } from "node:dns/promises";
import { type Socket, connect } from "node:net";
import { errnoOf } from "../../core/errno.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { whyClosed } from "./addresses.ts";

/** Why there is no connection to a host; a sentence for a person and for the program that asked. */
export interface NoWay {
  /** `refused`: nothing left this host. `failed`: the other side was not reached. */
  readonly kind: "refused" | "failed";
  readonly why: string;
}

/** A way from this host to another one. Nothing has been written on it for the client yet. */
export interface Way {
  readonly socket: Socket;
  /** `https-proxy`: the host's own proxy resolves the name, so nobody here has seen the address. */
  readonly by: "address" | "https-proxy";
}

/** Opens a connection to port 443 of an allowed host. May be called many times at once. */
export type OpenWay = (host: string) => Promise<Result<Way, NoWay>>;

export interface DirectOptions {
  /** All addresses of a name, as the system resolves it; rejects when it has none. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Begins a connection to exactly this address. */
  readonly dial: (address: string, port: number) => Socket;
}

export const TLS_PORT = 443;
const DIAL_MS = 15_000;
/** Addresses that are tried one after another. */
const MOST_TRIED = 4;

/** What the system itself does. */
export const SYSTEM: DirectOptions = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  dial: (address, port) => connect({ host: address, port, allowHalfOpen: true }),
};

/**
 * Connects to an address that was looked at, and never resolves a second time: a name that leads elsewhere the next time
 * it is asked for (DNS rebinding) gains nothing. One closed address among several refuses the host.
 */
export function directly({ resolve, dial }: DirectOptions): OpenWay {
  return async (host) => {
    const resolved = await resolve(host).catch((error: unknown) => errnoOf(error));
    if (typeof resolved === "string")
      return err({ kind: "failed", why: `${host} could not be resolved (${resolved}).` });
    const closed = resolved.find((address) => whyClosed(address) !== undefined);
    if (closed !== undefined)
      return err({
        kind: "refused",
        why: `${host} leads to ${closed}, which is ${whyClosed(closed)}: only addresses of the open internet are connected to.`,
      });
    let problem = "no address";
    for (const address of resolved.slice(0, MOST_TRIED)) {
      const socket = dial(address, TLS_PORT);
      const reached = await untilConnected(socket, DIAL_MS);
      if (reached === undefined) return ok({ socket, by: "address" });
      problem = reached;
    }
    return err({ kind: "failed", why: `${host} could not be reached (${problem}).` });
  };
}

/** Undefined once the socket is connected; else the system's name of the problem, and the socket is gone. */
export function untilConnected(socket: Socket, deadlineMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (problem: string | undefined): void => {
      clearTimeout(late);
      socket.off("connect", onConnect).off("error", onError);
      // Whoever takes the socket over listens by itself; until then an error must not end the process.
      socket.on("error", () => undefined);
      if (problem !== undefined) socket.destroy();
      resolve(problem);
    };
    const onConnect = (): void => settle(undefined);
    const onError = (error: Error): void => settle(errnoOf(error));
    const late = setTimeout(() => settle("ETIMEDOUT"), deadlineMs);
    socket.once("connect", onConnect).once("error", onError);
  });
}
