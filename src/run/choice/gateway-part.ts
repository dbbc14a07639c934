import type { AgentAdapter, ModelApi } from "../../agents/port.ts";
import type { Settings } from "../../config/settings.ts";
import type { GatewaySpec } from "../../core/egress.ts";
import type { Failure } from "../../core/failures.ts";
import { PLACEHOLDER_KEY, RELAY_PORTS } from "../../core/network.ts";
import { type Result, ok } from "../../core/result.ts";
import { chooseProvider } from "./provider.ts";

export interface GatewayPart {
  readonly gateway?: GatewaySpec;
  /** How the agent is told of it. */
  readonly modelApi?: ModelApi;
}

/** What a run spec says about the gateway; nothing where the agent has no model API through it. Pure. */
export function gatewayPart(
  adapter: AgentAdapter,
  settings: Settings,
): Result<GatewayPart, Failure> {
  if (settings.network.mode !== "gateway") return ok({});
  const chosen = chooseProvider(adapter, settings);
  if (!chosen.ok) return chosen;
  if (chosen.value === null) return ok({});
  const { serverTools, maxRequestBytes, waitForLimit } = settings.gateway;
  const { run: budget, invocation: invocationBudget } = settings.budget;
  return ok({
    gateway: {
      ...chosen.value,
      serverTools,
      maxRequestBytes,
      budget,
      invocationBudget,
      waitForLimit,
    },
    modelApi: {
      provider: chosen.value.provider,
      origin: `http://127.0.0.1:${RELAY_PORTS.model}`,
      placeholderKey: PLACEHOLDER_KEY,
    },
  });
}
