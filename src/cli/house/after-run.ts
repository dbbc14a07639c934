import type { Settings } from "../../config/settings.ts";
import { tidyQuietly } from "../../run/house/automatic.ts";
import type { HouseServices } from "../../run/house/services.ts";
import { vouchedTime } from "../../run/house/vouched-time.ts";
import type { SeriesServices } from "../../run/series/series.ts";
import { count } from "../output/count.ts";
import { size } from "../output/duration.ts";
import { retentionOf } from "./services.ts";

/** A person waits for the result meanwhile. */
const TIME_MS = 10_000;

/** Automatic retention: removes what may go, and says so in one line. Never fails, and takes seconds at most. */
export async function tidyAfterRun(services: SeriesServices, settings: Settings): Promise<void> {
  if (settings.retention.automatic === "off" || services.signal.aborted) return;
  const { env, gitProgram, principal, history, engine, now } = services;
  const retention = retentionOf(settings);
  const house: HouseServices = {
    env,
    gitProgram,
    history,
    engines: [engine],
    repositories: [{ principal, retention }],
    retention,
    image: settings.container.image,
    now: () => vouchedTime(history, now()),
  };
  const signal = AbortSignal.any([services.signal, AbortSignal.timeout(TIME_MS)]);
  const tidied = await tidyQuietly(house, signal);
  if (tidied === undefined) return;
  const rest = tidied.left === 0 ? "" : `, ${tidied.left} left for the next time`;
  const text = `Kept house: ${count(tidied.count, "old thing")} removed, ${size(tidied.bytes)}${rest}.`;
  services.report({ type: "notice", runId: null, text });
}
