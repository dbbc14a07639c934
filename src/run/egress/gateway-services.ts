import type { PriceTable } from "../../core/prices.ts";
import type { InvocationMeter } from "../../gateway/meter/meter.ts";
import type { Credential } from "../../gateway/port.ts";

/** What the gateways of an invocation share; in memory only. */
export interface GatewayServices {
  /** The credential of a run, by the provider and the reference in its spec; null where the upstream wants none. */
  readonly credentialOf: (of: {
    readonly provider: string;
    readonly credential: string | null;
  }) => Credential | null;
  /** For all runs together. */
  readonly meter: InvocationMeter;
  readonly prices: PriceTable;
  /** Absolute path of the user's own price table, for sentences. */
  readonly pricesFile: string;
}
