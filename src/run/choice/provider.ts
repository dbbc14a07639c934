import type { AgentAdapter } from "../../agents/port.ts";
import type { Settings } from "../../config/settings.ts";
import { type Failure, fail } from "../../core/failures.ts";
import type { ProviderName } from "../../core/network.ts";
import { type Result, ok } from "../../core/result.ts";
import { loginUpstream } from "../../gateway/credentials/logins.ts";
import { describeReference, parseReference } from "../../gateway/credentials/reference.ts";

/** Names of model APIs for sentences. */
export const PROVIDER_TITLES: Readonly<Record<ProviderName, string>> = {
  openai: "OpenAI's API",
  anthropic: "Anthropic's API",
  gemini: "the Gemini API",
  compatible: "a server that speaks OpenAI's API",
};

export interface ChosenProvider {
  readonly provider: ProviderName;
  /** Base address of the upstream, without a slash at its end. */
  readonly upstream: string;
  /** The reference to the credential, as it may be shown; null where the upstream wants none. */
  readonly credential: string | null;
}

type GatewaySettings = Pick<Settings, "gateway" | "upstream" | "credential" | "network">;

/**
 * The model API that an agent works with in the network mode `gateway`: the one that was named, else the agent's usual
 * one. Pure; reads no credential.
 *
 * @returns null for a local agent that only wants the allowed hosts; `config-invalid` where the settings do not suit the agent.
 */
export function chooseProvider(
  adapter: Pick<AgentAdapter, "name" | "kind" | "providers">,
  settings: GatewaySettings,
): Result<ChosenProvider | null, Failure> {
  const wanted = settings.gateway.provider;
  if (wanted !== undefined && adapter.kind === "hosted" && !adapter.providers.includes(wanted))
    return unsuited(adapter, wanted);
  const provider = wanted ?? adapter.providers[0];
  if (provider !== undefined) return withUpstream(provider, settings);
  if (adapter.kind === "hosted")
    return fail("config-invalid", `The agent ${adapter.name} cannot work through the gateway.`, {
      cure: "Choose another agent, or pass --network bridge; see docs/credentials.md on what that opens.",
    });
  if (settings.network.allowHosts.length > 0) return ok(null);
  return fail(
    "config-invalid",
    `The agent ${adapter.name} has no model API of its own, and none is named for the gateway.`,
    {
      cure: "Name the API with --provider openai, anthropic, gemini or compatible, the hosts it may reach with --allow-host, or leave out --network gateway.",
    },
  );
}

function unsuited(
  { name, providers }: Pick<AgentAdapter, "name" | "providers">,
  wanted: ProviderName,
): Result<never, Failure> {
  const others = providers.join(" or ");
  return fail("config-invalid", `The agent ${name} cannot work with ${PROVIDER_TITLES[wanted]}.`, {
    cure:
      providers.length === 0
        ? "Choose another agent, or leave gateway.provider out."
        : `Leave gateway.provider out, or set it to ${others} (--provider ${providers[0] ?? ""}).`,
  });
}

function withUpstream(
  provider: ProviderName,
  settings: GatewaySettings,
): Result<ChosenProvider, Failure> {
  const upstream = settings.upstream[provider];
  if (upstream === undefined)
    return fail(
      "config-invalid",
      `Nothing says where ${PROVIDER_TITLES[provider]} is: upstream.${provider} is empty.`,
      {
        cure: `Pass --${provider}-url URL, for example http://127.0.0.1:11434/v1, or set it in your own config.toml.`,
      },
    );
  const reference = parseReference(settings.credential[provider] ?? "none");
  if (!reference.ok)
    return fail("config-invalid", `credential.${provider}: ${reference.error}`, {
      cure: "See docs/credentials.md on the forms of a reference.",
    });
  if (reference.value.kind === "none") return ok({ provider, upstream, credential: null });
  const credential = describeReference(reference.value);
  return ok({ provider, upstream: loginUpstream(reference.value) ?? upstream, credential });
}
