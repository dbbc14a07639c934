import { existsSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import type { ContainerSpec, Engine } from "../../engine/port.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { IN_CONTAINER, type RunPaths } from "../paths.ts";
import { runBriefly } from "./brief-container.ts";
import { CONTAINER_LANGUAGE, commonPart } from "./container.ts";

/**
 * Removes the work directory of an overlay (`workdir` in the kernel's documentation of overlayfs), of containers that are
 * proven gone. The directory that the kernel made in it is root's with mode 000. An empty one goes like any other; where
 * the agent has deleted a file of the base something is left in it, which an ordinary user may not even look at: that is
 * opened from inside a container. May be called again after a crash at any point.
 *
 * @param opener a container to do it with; see `openerOf`.
 * @returns `left` when it is still there; it is of a few bytes.
 */
export async function removeOverlayWork(
  engine: Engine,
  work: string,
  opener: () => ContainerSpec,
): Promise<"removed" | "left"> {
  await removeTree(work).catch(() => undefined);
  if (!existsSync(work)) return "removed";
  // Root without capabilities is a stranger to a directory of ours.
  await chmod(work, 0o755);
  const container = opening(opener(), work);
  // An attempt that was killed with us may have left a container of the same name behind.
  await engine.remove(container.name);
  // A way that does not open it shows when it is removed.
  await runBriefly(engine, container, new AbortController().signal);
  await removeTree(work).catch(() => undefined);
  return existsSync(work) ? "left" : "removed";
}

/** What another container over the layers of one that is proven gone needs: an empty work directory after a `volatile` mount. */
export async function renewOverlayWork(
  engine: Engine,
  { overlays = [] }: ContainerSpec,
  opener: () => ContainerSpec,
): Promise<Result<void, Failure>> {
  const work = overlays.find(({ durability }) => durability === "volatile")?.work;
  if (work === undefined) return ok(undefined);
  const removed = await removeOverlayWork(engine, work, opener);
  if (removed === "left")
    return fail("container-failed", `The directory ${work} of an earlier container stays.`);
  // It can be missing: a crash may have come between the two.
  await mkdir(work, { recursive: true });
  return ok(undefined);
}

/**
 * Gives everybody access to what is in a directory; the state directory around it lets nobody else in. Root, who as the
 * owner needs no capability for it, runs one program of the image's, with nothing else mounted.
 */
function opening(container: ContainerSpec, directory: string): ContainerSpec {
  return {
    ...container,
    // A rootless engine's own root, to whom all users of its namespace yield.
    setup: { ...container.setup, userNamespace: "host" },
    user: { uid: 0, gid: 0 },
    workdir: "/",
    mounts: [
      { role: "workspace", source: directory, target: IN_CONTAINER.workspace, access: "rw" },
    ],
    argv: ["chmod", "-R", "a+rwX", IN_CONTAINER.workspace],
  };
}

/** A container of a run's that finds what is left of it by its labels, without a network or anything of the run's. */
export function openerOf(spec: RunSpec, paths: RunPaths): ContainerSpec {
  return {
    ...commonPart(spec, paths, "clear"),
    network: "none",
    mounts: [],
    env: { GUARDLOOP_RUN_ID: spec.runId, ...CONTAINER_LANGUAGE },
    passEnv: [],
    argv: [],
  };
}
