import { pricesPath, readOwnPrices } from "../config/prices.ts";
import type { Settings } from "../config/settings.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { loginNotice } from "../gateway/credentials/logins.ts";
import { parseReference } from "../gateway/credentials/reference.ts";
import { createInvocationMeter } from "../gateway/meter/meter.ts";
import { withOwnPrices } from "../gateway/meter/price-table.ts";
import { STANDARD_PRICES } from "../gateway/meter/standard-prices.ts";
import type { Credential } from "../gateway/port.ts";
import type { AgentChoice } from "../run/choice/prepare.ts";
import { type ChosenProvider, chooseProvider } from "../run/choice/provider.ts";
import type { GatewayServices } from "../run/egress/gateway-services.ts";
import type { Context } from "./context.ts";

export interface PreparedGateway {
  readonly services: GatewayServices;
  /** Sentences for the user, for example about the terms of a login. */
  readonly notices: readonly string[];
}

/**
 * What the gateways of an invocation share: each credential read once, the price table, and the meter of all runs
 * together. Undefined where the network mode is another one.
 */
export async function prepareGateway(
  context: Context,
  settings: Settings,
  agents: readonly AgentChoice[],
): Promise<Result<PreparedGateway | undefined, Failure>> {
  if (settings.network.mode !== "gateway") return ok(undefined);
  const { configDir } = context.env;
  const own = await readOwnPrices(configDir);
  if (!own.ok) return own;
  const notices: string[] = [];
  const credentials = new Map<string, Credential | null>();
  for (const { adapter } of agents) {
    const chosen = chooseProvider(adapter, settings);
    if (!chosen.ok) return chosen;
    if (chosen.value === null || credentials.has(nameOf(chosen.value))) continue;
    const text = settings.credential[chosen.value.provider] ?? "none";
    const reference = parseReference(text);
    if (!reference.ok) return fail("config-invalid", reference.error);
    const { readCredential } = await import("../gateway/credentials/read-credential.ts");
    const read = await readCredential(reference.value, {
      env: context.env,
      provider: chosen.value.provider,
      agent: adapter.name,
      onNotice: (sentence) => notices.push(sentence),
      signal: context.interrupt,
    });
    if (!read.ok) return read;
    credentials.set(nameOf(chosen.value), read.value);
    const terms = loginNotice(reference.value);
    if (terms !== undefined) notices.push(terms);
  }
  return ok({
    services: {
      credentialOf: (of) => credentials.get(nameOf(of)) ?? null,
      meter: createInvocationMeter(settings.budget.invocation),
      prices: withOwnPrices(STANDARD_PRICES, own.value),
      pricesFile: pricesPath(configDir),
    },
    notices,
  });
}

function nameOf({
  provider,
  credential,
}: Pick<ChosenProvider, "credential"> & { readonly provider: string }): string {
  return `${provider} ${credential ?? "none"}`;
}
