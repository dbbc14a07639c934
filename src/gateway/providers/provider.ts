import type { TokenUse } from "../../core/egress.ts";
import type { CredentialValue } from "../port.ts";
import type { Target } from "../target.ts";

/** Header names are lower-case. */
export type Headers = Readonly<Record<string, string>>;

/** A request that a provider's API knows and the gateway lets through. */
export interface Route {
  /** What is put behind the upstream's base address, with its query. */
  readonly upstreamPath: string;
  /** `model`: costs tokens. `about`: counts tokens or lists models. */
  readonly use: "model" | "about";
  /** The model, where the path names it. */
  readonly model: string | undefined;
}

/**
 * Something in a request that the provider would do on its side with the network or with what the account keeps there.
 * Its name is the one that `gateway.server_tools` allows it by.
 */
export interface ServerTool {
  readonly name: string;
  /** As the request has it, for the sentence; untrusted. */
  readonly written: string;
}

/** Reads the use of tokens out of what an answer says, an object at a time. */
export interface UsageReader {
  /** A JSON answer, or the data of one event. Never throws; what it does not know it ignores. */
  add(json: unknown): void;
  /** What was said last; `final` when no more can follow. */
  seen(): SeenUsage | undefined;
}

export interface SeenUsage extends Omit<TokenUse, "counted"> {
  readonly final: boolean;
}

/** How one provider's API is spoken, for the gateway. One file each; no state. */
export interface Provider {
  /** Undefined for what is not allowed. The path is the client's, as a plain target. */
  route(method: string, target: Target): Route | undefined;
  /** The sentence's end for a request without a route: what is allowed. */
  readonly allowed: string;
  /** The headers that the credential goes into; they take the place of the client's. */
  authorize(value: CredentialValue, client: Headers): Headers;
  /** Of a request's headers those that pass, besides the ones every API has; matched as a whole, lower-case. */
  readonly requestHeaders: RegExp;
  /** The same for answers. */
  readonly responseHeaders: RegExp;
  /** In the body of a request; empty when there is none. */
  serverTools(body: unknown): readonly ServerTool[];
  usageReader(): UsageReader;
}
