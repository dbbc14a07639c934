import type { EgressEntry, EgressTotals, TokenUse } from "../core/egress.ts";
import type { Result } from "../core/result.ts";

/**
 * A credential in the memory of this process. Nothing may write it down, print it, or give it to a child's argv or
 * environment.
 */
export interface Credential {
  /** How it may be shown: the reference it was read by. */
  readonly shown: string;
  /**
   * The value as it is now; a login may renew it first. One renewal at a time, whoever asks.
   *
   * @returns a sentence when there is none any more.
   */
  value(): Promise<Result<CredentialValue, string>>;
  /** What must not be in any log: the value, and everything that was ever used in its place. */
  secrets(): readonly string[];
}

export interface CredentialValue {
  /** `key`: a provider's API key, sent in its own header. `bearer`: sent as `Authorization: Bearer`. */
  readonly kind: "key" | "bearer";
  readonly secret: string;
  /** Further headers that belong to it, for example an account's id. Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a request asks to use, before it is sent. */
export interface Asked {
  readonly model: string | null;
  readonly requestBytes: number;
}

/** What the answer to an admitted request used. */
export interface Used {
  readonly model: string | null;
  /** Null for a request that is not about a model, and for one that failed before it cost anything. */
  readonly tokens: TokenUse | null;
}

/** An upstream's answer that says to come back later. */
export interface LimitSeen {
  readonly status: number;
  /** When the limit is over, as the answer says; null where it does not. */
  readonly until: Date | null;
}

/** Budgets of one run, and of its invocation. Fail-closed: what cannot be counted is not let through. */
export interface Meter {
  /** Counts the request against the budgets, or says in one sentence why it must not be sent. */
  admit(asked: Asked): Result<AdmittedRequest, string>;
  sawLimit(limit: LimitSeen): void;
  /** The sentence that says which budget is used up; undefined while none is. */
  exhausted(): string | undefined;
}

/** Ends with exactly one of the two; a second call does nothing. */
export interface AdmittedRequest {
  /** @returns US dollars by the price table; null without a price. */
  used(used: Used): number | null;
  /** It never reached the upstream. */
  withdrawn(): void;
}

/** Told of each request when it is over, and of each that was refused. Never throws, never waits. */
export interface EgressSink {
  add(entry: EgressEntry): void;
}

/** An open listener on a Unix socket. Closing it ends its connections and removes socket and directory. */
export interface OpenGateway extends AsyncDisposable {
  /** Absolute path of the socket file, at most 100 bytes; to be mounted as a file. */
  readonly socketPath: string;
  totals(): EgressTotals;
}
