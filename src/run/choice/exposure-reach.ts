import type { Settings } from "../../config/settings.ts";
import type { EngineKind } from "../../core/run-spec.ts";
import { metadataReach } from "../../engine/cloud-metadata.ts";
import { PROVIDER_TABLE } from "../../gateway/providers/table.ts";
import type { Exposure } from "./exposure.ts";
import { type ChosenProvider, PROVIDER_TITLES } from "./provider.ts";

/** @param engine undefined where it is not known which one will run the container. */
export function reachesOf(
  settings: Settings,
  models: readonly ChosenProvider[],
  engine: EngineKind | undefined,
): Exposure["reaches"] {
  switch (settings.network.mode) {
    case "none":
      return [{ what: "nothing", text: "nothing: its only interface is loopback", names: [] }];
    case "gateway":
      return throughGateway(settings, models);
    case "bridge":
      return [
        { what: "internet", text: "the internet, everywhere", names: [] },
        { what: "local-network", text: "your local network", names: [] },
        {
          what: "host-services",
          text: "services of this host that listen on more than loopback",
          names: [],
        },
        metadata(engine),
      ];
  }
}

function throughGateway(
  settings: Settings,
  models: readonly ChosenProvider[],
): Exposure["reaches"] {
  const { serverTools } = settings.gateway;
  const { allowHosts } = settings.network;
  const reaches: Exposure["reaches"][number][] = models.map(({ provider, upstream }) => ({
    what: "model-api",
    text: `${PROVIDER_TITLES[provider]} through the gateway on this host, ${PROVIDER_TABLE[provider].allowed} alone`,
    names: [upstream],
  }));
  if (serverTools.length > 0 && models.length > 0)
    reaches.push({
      what: "server-tools",
      text: "tools that the model's provider runs on its side, and what those reach",
      names: serverTools,
    });
  if (allowHosts.length > 0)
    reaches.push({
      what: "allowed-hosts",
      text: "hosts that are allowed, by HTTPS through the gateway's proxy",
      names: allowHosts,
    });
  return reaches.length > 0
    ? reaches
    : [{ what: "nothing", text: "nothing: no model API is chosen yet", names: [] }];
}

/** Where the engine is not known, what any of them leaves in reach counts. */
function metadata(engine: EngineKind | undefined): Exposure["reaches"][number] {
  const { blocked, inReach } = metadataReach(engine ?? "podman");
  const text =
    engine === "docker"
      ? `a cloud's metadata service, which hands out credentials of this machine, at these addresses (blocked: ${blocked.join(", ")})`
      : "a cloud's metadata service, which hands out credentials of this machine, at these addresses (Docker blocks the link-local ones, Podman cannot)";
  return { what: "cloud-metadata", text, names: inReach };
}
