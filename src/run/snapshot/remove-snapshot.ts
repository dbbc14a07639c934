import type { RunSpec } from "../../core/run-spec.ts";
import { openerOf, removeOverlayWork } from "../container/overlay-work.ts";
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
  if (spec !== undefined)
    await removeOverlayWork(services.engine, overlayWork, () => openerOf(spec, services.paths));
  // What of the overlay's is left goes into the trash, where `gc` and `doctor` name it with its cure.
  await removeLater(services, [workspace, store, outbox, ...also, overlayWork]);
}
