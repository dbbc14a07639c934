import type { ProviderName } from "./network.ts";

/** Tokens as a provider counts them. `input` includes what was read from a cache or written to one. */
export interface TokenUse {
  readonly input: number;
  /** Read from a cache. */
  readonly cachedInput: number;
  /** Written to a cache, where the answer says so; missing, it counts at the higher of the two prices. */
  readonly cacheWrite?: number;
  readonly output: number;
  /** `estimated`: the answer did not say, or was cut off, so it was reckoned from bytes, on the high side. */
  readonly counted: "reported" | "estimated";
}

/** One request through the gateway: a line of egress.jsonl in a run's record. No bodies, no header values, no queries. */
export interface EgressEntry {
  readonly version: 1;
  /** When the request came; ISO 8601, UTC, with milliseconds. */
  readonly at: string;
  /** `model`: to the model API. `host`: through the proxy to an allowed host. */
  readonly kind: "model" | "host";
  /** Which phase of the run asked. */
  readonly phase: "agent" | "setup";
  /** Untrusted, bounded text. */
  readonly method: string;
  /** Of the upstream, or what was asked for; untrusted, bounded. */
  readonly host: string;
  /** Without the query; empty for CONNECT. Untrusted, bounded. */
  readonly path: string;
  /** Status that the client got; null where the connection ended before there was one. */
  readonly status: number | null;
  /**
   * `answered`: the upstream answered, whatever its status. `refused`: by the gateway; nothing left the host. `failed`: the
   * upstream could not be reached or broke off. `cut`: the client went away.
   */
  readonly outcome: "answered" | "refused" | "failed" | "cut";
  /** For `refused` and `failed`: one sentence for a person. */
  readonly reason: string | null;
  /** Of a connection that went through the host's own HTTPS proxy, which resolves the name: nobody here saw the address. */
  readonly way?: "https-proxy";
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** As the request named it; untrusted, bounded. */
  readonly model: string | null;
  readonly tokens: TokenUse | null;
  /** US dollars by the price table; null without a price. */
  readonly costUsd: number | null;
  /** From the request's last byte to the answer's first one; null where there was none. */
  readonly firstByteMs: number | null;
  readonly totalMs: number;
}

/** What a run sent out through the gateway, summed up. */
export interface EgressTotals {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  /** Answers with 429 or an overload status (503, 529). */
  readonly rateLimited: number;
  /** Answers with 401 or 403 of the upstream. */
  readonly unauthenticated: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null where a request that used tokens had no price. */
  readonly costUsd: number | null;
}

/** What a run, or all runs of an invocation together, may use; null for no limit. */
export interface Budget {
  readonly requests: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly usd: number | null;
}

/** The part of a run spec that is about the gateway. No secret is in it. */
export interface GatewaySpec {
  readonly provider: ProviderName;
  /** Base address of the upstream, without a path's last slash. */
  readonly upstream: string;
  /** The reference to the credential, as it may be shown: `env:OPENAI_API_KEY`; null where the upstream wants none. */
  readonly credential: string | null;
  /** Server-side tools that are allowed by name. */
  readonly serverTools: readonly string[];
  readonly maxRequestBytes: number;
  readonly budget: Budget;
  readonly invocationBudget: Budget;
  readonly waitForLimit: "off" | "on";
}
