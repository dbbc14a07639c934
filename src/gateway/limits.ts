/** Bounds on what the container can make the gateway hold and wait for. */
export interface GatewayLimits {
  readonly connections: number;
  /** Of a request's headers, together. */
  readonly headerBytes: number;
  /** Until a request's headers are there, from the connection's start or the request's first byte. */
  readonly headerMs: number;
  /** For a request's whole body. */
  readonly bodyMs: number;
  /** For a connection between two requests. */
  readonly keepAliveMs: number;
  /** Without a byte of the upstream; models think for minutes. */
  readonly upstreamSilenceMs: number;
  /** Without the client's taking a byte of the answer that is there. */
  readonly clientSilenceMs: number;
  /** Bodies of all requests under way, as a multiple of the largest one that is allowed. */
  readonly largestBodies: number;
}

export const GATEWAY_LIMITS: GatewayLimits = {
  connections: 64,
  headerBytes: 64 * 1024,
  headerMs: 20_000,
  bodyMs: 60_000,
  keepAliveMs: 5 * 60_000,
  upstreamSilenceMs: 10 * 60_000,
  clientSilenceMs: 10 * 60_000,
  largestBodies: 4,
};
