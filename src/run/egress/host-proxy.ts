import type { EgressEntry } from "../../core/egress.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { RELAY_PORTS } from "../../core/network.ts";
import { type Result, ok } from "../../core/result.ts";
import type { GuestJob } from "../../core/artifacts.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import type { OpenGateway } from "../../gateway/port.ts";
import { IN_CONTAINER } from "../paths.ts";
import type { RunServices } from "../services.ts";
import { socketsOf } from "./sockets.ts";

export interface ProxyRequest {
  readonly runId: string;
  readonly phase: EgressEntry["phase"];
  readonly allowHosts: readonly string[];
  readonly onEntry: (entry: EgressEntry) => void;
}

/** Opens the proxy to allowed hosts on the run's own socket, for one phase of the run. */
export async function openProxy(
  services: Pick<RunServices, "env" | "now">,
  { runId, phase, allowHosts, onEntry }: ProxyRequest,
): Promise<Result<OpenGateway, Failure>> {
  // With Node's own HTTP and TLS, which most runs do without.
  const [{ openHostProxy }, { hostsProxy, wayOut }] = await Promise.all([
    import("../../gateway/proxy/host-proxy.ts"),
    import("../../gateway/proxy/https-proxy.ts"),
  ]);
  const own = hostsProxy(services.env.proxy);
  if (!own.ok) return fail("gateway-failed", own.error, { cure: "Correct or unset the variable." });
  const sockets = await socketsOf(services, runId);
  if (!sockets.ok) return sockets;
  return openHostProxy({
    directory: sockets.value.directory,
    phase,
    allowHosts,
    sink: { add: onEntry },
    open: wayOut(own.value),
    now: services.now,
  });
}

/** The same for the agent; undefined where its run allows it no host. */
export async function openAgentProxy(
  services: Pick<RunServices, "env" | "now">,
  { runId, allowHosts = [] }: Pick<RunSpec, "runId" | "allowHosts">,
  onEntry: (entry: EgressEntry) => void,
): Promise<Result<OpenGateway | undefined, Failure>> {
  if (allowHosts.length === 0) return ok(undefined);
  return openProxy(services, { runId, phase: "agent", allowHosts, onEntry });
}

/** How the container's programs reach the proxy: the relay that the guest runs. */
export const PROXY_RELAY: NonNullable<GuestJob["relays"]>[number] = {
  port: RELAY_PORTS.proxy,
  socket: IN_CONTAINER.proxySocket,
};
