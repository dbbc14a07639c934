import type { EgressEntry } from "../../core/egress.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { createMeter } from "../../gateway/meter/meter.ts";
import type { LimitSeen } from "../../gateway/port.ts";
import type { OutsideClocks } from "../container/watched-container.ts";
import type { RunServices } from "../services.ts";
import { socketsOf } from "./sockets.ts";

/** The gateway of one run, open while its agent works. */
export interface RunGateway extends AsyncDisposable {
  readonly socketPath: string;
  /** The sentence that says which budget is used up; undefined while none is. */
  readonly exhausted: () => string | undefined;
  /** From now on a used-up budget ends the agent, and with `--wait-for-limit` a rate limit holds its clocks. */
  readonly watch: (clocks: OutsideClocks) => void;
}

/** Opens the way to the model API that the run's spec names; undefined where it names none. */
export async function openRunGateway(
  services: RunServices,
  spec: RunSpec,
  onEntry: (entry: EgressEntry) => void,
): Promise<Result<RunGateway | undefined, Failure>> {
  const { gateway } = spec;
  if (gateway === undefined) return ok(undefined);
  const shared = services.gateway;
  if (shared === undefined)
    return fail("gateway-failed", "The run was made without what its gateway needs.");
  const sockets = await socketsOf(services, spec.runId);
  if (!sockets.ok) return sockets;
  let clocks: OutsideClocks | undefined;
  const meter = createMeter({
    run: gateway.budget,
    invocation: shared.meter,
    prices: shared.prices,
    pricesFile: shared.pricesFile,
    now: services.now,
    onExhausted: () => clocks?.end("budget-limit"),
  });
  const sawLimit = (limit: LimitSeen): void => {
    meter.sawLimit(limit);
    const { waitMs } = meter.limitState();
    if (gateway.waitForLimit === "on" && waitMs !== null) clocks?.holdFor(waitMs);
  };
  // Only here: its HTTP client is most of what a program without a gateway would load for nothing.
  const { openModelGateway } = await import("../../gateway/model-gateway.ts");
  const opened = await openModelGateway({
    directory: sockets.value.directory,
    spec: gateway,
    credential: shared.credentialOf(gateway) ?? undefined,
    meter: { ...meter, sawLimit },
    sink: { add: onEntry },
    proxy: services.env.proxy,
    now: services.now,
  });
  if (!opened.ok) return opened;
  return ok({
    socketPath: opened.value.socketPath,
    exhausted: () => meter.exhausted(),
    watch(those): void {
      clocks = those;
      if (meter.exhausted() !== undefined) those.end("budget-limit");
    },
    [Symbol.asyncDispose]: () => opened.value[Symbol.asyncDispose](),
  });
}
