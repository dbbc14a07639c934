import type { Settings } from "../../config/settings.ts";
import type { Exposure } from "./exposure.ts";
import { type ChosenProvider, PROVIDER_TITLES } from "./provider.ts";

/** Who can get what the container can read. */
export function leaksOf(settings: Settings, models: readonly ChosenProvider[]): Exposure["leaks"] {
  const { mode, allowHosts } = settings.network;
  if (mode === "bridge")
    return [
      {
        what: "anybody",
        text:
          settings.agent.passEnv.length === 0
            ? "anybody, everything it can read"
            : "anybody, everything it can read, the passed variables too",
        names: [],
      },
    ];
  const leaks: Exposure["leaks"][number][] = models.map(({ provider, upstream }) => ({
    what: "model-provider",
    text: `whoever runs ${PROVIDER_TITLES[provider]}, everything it can read`,
    names: [new URL(upstream).host],
  }));
  const { serverTools } = settings.gateway;
  if (serverTools.length > 0 && models.length > 0)
    leaks.push({
      what: "server-tools",
      text: "whoever the provider's tools ask, what the model tells them",
      names: serverTools,
    });
  if (mode === "gateway" && allowHosts.length > 0)
    leaks.push({
      what: "allowed-hosts",
      text: "whoever runs the allowed hosts, or can look at what is put there, everything it can read",
      names: allowHosts,
    });
  return leaks.length > 0
    ? leaks
    : [
        {
          what: "nobody",
          text: "nobody: what comes out are patches and artifacts, and you read them first",
          names: [],
        },
      ];
}
