import type { AgentAdapter } from "../../agents/port.ts";
import type { Settings } from "../../config/settings.ts";
import type { Budget } from "../../core/egress.ts";
import type { NetworkMode, ProviderName } from "../../core/network.ts";
import type { EngineKind } from "../../core/run-spec.ts";
import type { FilesSeen } from "../snapshot/files-seen.ts";
import { type ChosenProvider, chooseProvider } from "./provider.ts";
import { leaksOf } from "./exposure-leaks.ts";
import { reachesOf } from "./exposure-reach.ts";
import { readsOf } from "./exposure-reads.ts";

/** What a container can read; `names` are files, variables or directories where there are any to name. */
export const READS = [
  "commit",
  "history",
  "overlay",
  "prompt",
  "variables",
  "setup",
  "caches",
  "image",
] as const;

/** What a container can reach; `names` are addresses. */
export const REACHES = [
  "nothing",
  "model-api",
  "server-tools",
  "allowed-hosts",
  "internet",
  "local-network",
  "host-services",
  "cloud-metadata",
] as const;

/** Who can be sent what a container can read. */
export const LEAKS = [
  "nobody",
  "model-provider",
  "server-tools",
  "allowed-hosts",
  "anybody",
] as const;

export interface Fact<Name extends string> {
  readonly what: Name;
  /** For a person; begins in lower case and has no full stop. */
  readonly text: string;
  readonly names: readonly string[];
}

/** A credential that a run works with. The value is never in here. */
export interface CredentialFact {
  /** `host`: stays with the gateway. `container`: everything in the container can read it. */
  readonly where: "host" | "container";
  /** The reference, or the name of the variable. */
  readonly what: string;
  /** Of the gateway's. */
  readonly provider: ProviderName | null;
  readonly text: string;
}

/** What the agent's container of a run can read, reach and leak, and with which credentials. */
export interface Exposure {
  readonly network: NetworkMode;
  readonly agents: readonly AgentAdapter["name"][];
  readonly image: string;
  readonly reads: readonly Fact<(typeof READS)[number]>[];
  readonly reaches: readonly Fact<(typeof REACHES)[number]>[];
  readonly leaks: readonly Fact<(typeof LEAKS)[number]>[];
  /** Empty where there is none at all. */
  readonly credentials: readonly CredentialFact[];
  readonly files: FilesSeen;
  /** Commands before the agent, in a container of their own; null where there are none. */
  readonly setup: {
    readonly commands: readonly string[];
    readonly hosts: readonly string[];
  } | null;
  readonly budget: { readonly run: Budget; readonly invocation: Budget };
  readonly limits: {
    readonly wallMinutes: number;
    readonly idleMinutes: number;
    readonly waitForLimit: "off" | "on";
  };
}

export interface ExposureRequest {
  readonly settings: Settings;
  /** The configured agents; empty when none is. */
  readonly adapters: readonly AgentAdapter[];
  readonly files: FilesSeen;
  /** Undefined where no engine was asked yet. */
  readonly engine: EngineKind | undefined;
}

/** The one description of what a run opens, for `guardloop explain`, the start of `run` and `--json`. Pure. */
export function exposureOf(request: ExposureRequest): Exposure {
  const { settings, adapters, files } = request;
  const models = modelsOf(request);
  const { commands, allowHosts: hosts } = settings.setup;
  return {
    network: settings.network.mode,
    agents: adapters.map(({ name }) => name),
    image: settings.container.image,
    reads: readsOf(settings, files),
    reaches: reachesOf(settings, models, request.engine),
    leaks: leaksOf(settings, models),
    credentials: credentialsOf(settings, models),
    files,
    setup: commands.length === 0 ? null : { commands, hosts },
    budget: settings.budget,
    limits: {
      wallMinutes: settings.limits.wallMinutes,
      idleMinutes: settings.limits.idleMinutes,
      waitForLimit: settings.gateway.waitForLimit,
    },
  };
}

/** The model APIs behind the gateway, each once. What cannot be chosen is refused elsewhere. */
function modelsOf({ settings, adapters }: ExposureRequest): readonly ChosenProvider[] {
  if (settings.network.mode !== "gateway") return [];
  const chosen = adapters.flatMap((adapter) => {
    const one = chooseProvider(adapter, settings);
    return one.ok && one.value !== null ? [one.value] : [];
  });
  return [...new Map(chosen.map((one) => [one.provider, one])).values()];
}

function credentialsOf(
  { agent }: Settings,
  models: readonly ChosenProvider[],
): readonly CredentialFact[] {
  return [
    ...models.flatMap(({ provider, credential }): readonly CredentialFact[] =>
      credential === null
        ? []
        : [{ where: "host", what: credential, provider, text: sourceText(credential) }],
    ),
    ...agent.passEnv.map((what): CredentialFact => {
      const text = "passed into the container: everything that runs there can read it";
      return { where: "container", what, provider: null, text };
    }),
  ];
}

function sourceText(reference: string): string {
  const [kind = ""] = reference.split(":");
  const rest = reference.slice(kind.length + 1);
  const from: Readonly<Record<string, string>> = {
    env: `read from your variable ${rest}`,
    file: `read from the file ${rest}`,
    command: "printed by a command of yours",
    login: `taken from your login of ${rest}, and renewed by this host alone`,
  };
  return `${from[kind] ?? "read"} when a run starts; stays in guardloop's memory on this host`;
}
