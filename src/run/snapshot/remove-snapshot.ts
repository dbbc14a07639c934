import type { RunSpec } from "../../core/run-spec.ts";
import { openLayer } from "../container/open-layer.ts";
import { removeLater } from "../house/remove-later.ts";
import type { RunServices } from "../services.ts";

/**
 * Removes everything that a run's container, which is proven gone, could write to, and the store of its own that it read
 * from. With the work tree the layers are given back. May be called again after a crash at any point.
 *
 * @param spec undefined where it cannot be read.
 * @param also further directories of the run's.
 */
export async function removeSnapshot(
  services: Pick<RunServices, "engine" | "env" | "paths" | "remover">,
  spec: RunSpec | undefined,
  also: readonly string[] = [],
): Promise<void> {
  const { workspace, overlayWork, store, outbox } = services.paths;
  if (spec !== undefined) await openLayer(services, spec, overlayWork);
  await removeLater(services, [workspace, store, outbox, ...also, overlayWork]);
}
