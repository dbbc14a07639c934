import { mkdir } from "node:fs/promises";
import type { RunSpec } from "../../core/run-spec.ts";
import type { ContainerSpec, Mount } from "../../engine/port.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { giveTo } from "../../files/ownership.ts";
import { IN_CONTAINER, type RunPaths } from "../paths.ts";
import { cacheDirectory, placeOf } from "./setup-place.ts";

/** The caches of package managers as a container sees them, below HOME. Pure. */
export function cacheMounts(
  spec: RunSpec,
  paths: RunPaths,
  access: Mount["access"],
): Pick<ContainerSpec, "homeDirectories"> & { readonly mounts: readonly Mount[] } {
  const caches = spec.setup?.caches ?? [];
  const place = placeOf(paths, spec);
  const mounts = caches.map((name) => ({
    role: "cache" as const,
    source: cacheDirectory(place, name),
    target: `${IN_CONTAINER.home}/${name}`,
    access,
  }));
  const above = new Set(caches.flatMap(directoriesAbove));
  // A shorter path is never below a longer one.
  const homeDirectories = [...above].toSorted((a, b) => a.length - b.length);
  return homeDirectories.length === 0 ? { mounts } : { mounts, homeDirectories };
}

/** Makes the directories that are mounted, for the container's user; those that are there stay as they are. */
export async function makeCaches(spec: RunSpec, paths: RunPaths): Promise<void> {
  const place = placeOf(paths, spec);
  await ensurePrivateDirectory(place.root);
  for (const { source } of cacheMounts(spec, paths, "rw").mounts) {
    await ensurePrivateDirectory(place.caches);
    const made = await mkdir(source, { mode: 0o700, recursive: true });
    if (made !== undefined) giveTo(source, spec.container);
  }
}

function directoriesAbove(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
