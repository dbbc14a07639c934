import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { ContainerSpec, Mount } from "../../engine/port.ts";
import { IN_CONTAINER, type RunPaths } from "../paths.ts";

const LAYERS = z.object({
  version: z.literal(1),
  /** Bare repository that the snapshot borrows its objects from. */
  store: z.string(),
  /** Another one that `store` borrows from; null when it needs none. */
  seed: z.string().nullable(),
  /** What lies under the writable directory, uppermost first; null where that holds all files itself. */
  lower: z.array(z.string()).min(1).nullable(),
});

/** What a snapshot is made of, besides the directory that the container writes to; absolute paths on the host. */
export type Layers = z.infer<typeof LAYERS>;

/** An ordinary user would need a container to remove what `volatile` leaves of every run, which takes longer than it spares. */
export function layersDurability(): "usual" | "volatile" {
  return process.getuid?.() === 0 ? "volatile" : "usual";
}

/** What a container is given of a snapshot. */
export function snapshotMounts(
  layers: Layers,
  { workspace, overlayWork }: { readonly workspace: string; readonly overlayWork: string },
): Required<Pick<ContainerSpec, "mounts" | "overlays">> {
  const { store, seed, lower } = layers;
  const target = IN_CONTAINER.workspace;
  const stores: Mount[] = [
    { role: "base-store", source: store, target: IN_CONTAINER.store, access: "ro" },
  ];
  if (seed !== null)
    stores.push({ role: "base-store", source: seed, target: IN_CONTAINER.seed, access: "ro" });
  if (lower === null) {
    const whole: Mount = { role: "workspace", source: workspace, target, access: "rw" };
    return { mounts: [whole, ...stores], overlays: [] };
  }
  const overlay = {
    role: "workspace",
    lower,
    upper: workspace,
    work: overlayWork,
    durability: layersDurability(),
    target,
  } as const;
  return { mounts: stores, overlays: [overlay] };
}

/** As the snapshot stage wrote it down. Without that, the run is an older one, whose snapshot has everything itself. */
export async function readLayers({
  layers,
  store,
}: Pick<RunPaths, "layers" | "store">): Promise<Layers> {
  const text = await readFile(layers, "utf8").catch(() => undefined);
  if (text === undefined) return { version: 1, store, seed: null, lower: null };
  return LAYERS.parse(JSON.parse(text));
}
