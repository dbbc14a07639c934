import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../core/errno.ts";
import { containerName } from "../../core/ids.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import type { ContainerSpec } from "../../engine/port.ts";
import { IN_CONTAINER, type RunPaths } from "../paths.ts";
import type { RunServices } from "../services.ts";
import { CONTAINER_LANGUAGE, commonPart } from "./container.ts";

/**
 * Makes the work directory of an overlay (`workdir` in the kernel's documentation of overlayfs), of a container that is
 * proven gone, removable. The directory that the kernel left in it, which is root's with mode 000, is empty after an
 * orderly end, and then goes like any other. What an end in the middle of a write left in it, an ordinary user may not even
 * look at: that is opened from inside a container. May be called again after a crash at any point.
 *
 * Never fails: what cannot be removed after all stays in the trash, where `gc` and `doctor` name it with its cure.
 */
export async function openLayer(
  services: Pick<RunServices, "engine" | "paths">,
  spec: RunSpec,
  work: string,
): Promise<void> {
  if ((await removeEmpty(work)) === "something is left") await openFromInside(services, spec, work);
}

/** What the kernel made in its directory; removing an empty directory takes no right on that directory itself. */
async function removeEmpty(work: string): Promise<"all gone" | "something is left"> {
  let left: "all gone" | "something is left" = "all gone";
  for (const name of await readdir(work).catch(() => []))
    await rmdir(join(work, name)).catch((error: unknown) => {
      if (errnoOf(error) !== "ENOENT") left = "something is left";
    });
  return left;
}

/** Gives everybody access to what is in it; the state directory around it lets nobody else in. */
async function openFromInside(
  { engine, paths }: Pick<RunServices, "engine" | "paths">,
  spec: RunSpec,
  directory: string,
): Promise<void> {
  // An attempt that was killed with us may have left a container of the same name behind.
  await engine.remove(containerName(spec.runId, "clear"));
  // A way that does not open it shows when it is removed.
  await engine.run(clearSpec(spec, paths, directory), { onOutput: () => undefined }, {});
}

/**
 * The container that opens one directory: the posture of every other, but root, who as the owner needs no capability for
 * it. It runs one program of the image's, with nothing else mounted.
 */
export function clearSpec(spec: RunSpec, paths: RunPaths, directory: string): ContainerSpec {
  const common = commonPart(spec, paths, "clear");
  return {
    ...common,
    // A rootless engine's own root, to whom all users of its namespace yield.
    setup: { ...common.setup, userNamespace: "host" },
    user: { uid: 0, gid: 0 },
    network: "none",
    mounts: [
      { role: "workspace", source: directory, target: IN_CONTAINER.workspace, access: "rw" },
    ],
    env: { GUARDLOOP_RUN_ID: spec.runId, ...CONTAINER_LANGUAGE },
    passEnv: [],
    argv: ["chmod", "-R", "a+rwX", IN_CONTAINER.workspace],
  };
}
