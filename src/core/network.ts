/**
 * What the agent's container can reach. `none`: nothing but loopback. `gateway`: still no network; the model API through a
 * socket and a process on the host. `bridge`: a real network.
 */
export const NETWORK_MODES = ["none", "gateway", "bridge"] as const;
export type NetworkMode = (typeof NETWORK_MODES)[number];

/** APIs the gateway knows. `compatible` is any server that speaks OpenAI's API, for example a local one. */
export const PROVIDERS = ["openai", "anthropic", "gemini", "compatible"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/**
 * Where the guest's relays listen in the container, on 127.0.0.1. Unusual numbers: 8080 and its like are taken by what
 * people develop.
 */
export const RELAY_PORTS = {
  /** The model API. */
  model: 41_080,
  /** The HTTP proxy to allowed hosts. */
  proxy: 41_081,
} as const;

/** What stands in for a credential inside the container. It opens nothing; the gateway takes it away. */
export const PLACEHOLDER_KEY = "guardloop-placeholder-not-a-key";

/**
 * Base address of a model API as an agent is told it: OpenAI's clients want the version in it, the others add it
 * themselves. The gateway puts what follows onto the upstream's base address, which for OpenAI has its own version.
 *
 * @param origin where the relay listens, for example `http://127.0.0.1:41080`.
 */
export function clientBaseUrl(provider: ProviderName, origin: string): string {
  return `${origin}${clientBasePath(provider)}`;
}

/** What the paths of a client begin with before the part that follows the upstream's base address; may be empty. */
export function clientBasePath(provider: ProviderName): "" | "/v1" {
  return provider === "openai" || provider === "compatible" ? "/v1" : "";
}
