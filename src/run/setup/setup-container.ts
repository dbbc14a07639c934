import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { GuestJob } from "../../core/artifacts.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSpec, SetupSpec } from "../../core/run-spec.ts";
import type { ContainerSpec } from "../../engine/port.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { CONTAINER_LANGUAGE, commonPart } from "../container/container.ts";
import { PROXY_RELAY } from "../egress/host-proxy.ts";
import { type Layers, snapshotMounts } from "../layers/layers.ts";
import { IN_CONTAINER, type RunPaths } from "../paths.ts";
import type { RunServices } from "../services.ts";
import { makeThrowaway, writeAccounts } from "../snapshot/throwaway.ts";
import { cacheMounts } from "./cache-mounts.ts";
import { PROXY_ENVIRONMENT } from "./proxy-environment.ts";

/** The work tree in which the commands of a setup phase run. */
export function setupWorkspace({ setup }: RunPaths): string {
  return join(setup, "workspace");
}

/**
 * The same posture as every container, without a network: package registries are reached through the proxy's socket alone.
 * No variable of the user's is passed, and no model API is in reach.
 *
 * @param socketPath of the open proxy.
 */
export function setupContainer(
  spec: RunSpec,
  paths: RunPaths,
  { layers, socketPath }: { readonly layers: Layers; readonly socketPath: string },
): ContainerSpec {
  const at = (name: string): string => join(paths.setup, name);
  const { mounts: caches, ...home } = cacheMounts(spec, paths, "rw");
  const snapshot = snapshotMounts(layers, {
    workspace: setupWorkspace(paths),
    overlayWork: at("overlay-work"),
  });
  return {
    ...commonPart(spec, paths, "setup"),
    ...home,
    network: "none",
    overlays: snapshot.overlays,
    mounts: [
      ...snapshot.mounts,
      { role: "job", source: at("job"), target: IN_CONTAINER.job, access: "ro" },
      { role: "passwd", source: at("job/passwd"), target: "/etc/passwd", access: "ro" },
      { role: "group", source: at("job/group"), target: "/etc/group", access: "ro" },
      // The file alone: with its directory the container could put a socket of its own there.
      { role: "proxy-socket", source: socketPath, target: IN_CONTAINER.proxySocket, access: "ro" },
      ...caches,
    ],
    env: {
      GUARDLOOP_RUN_ID: spec.runId,
      CI: "true",
      ...CONTAINER_LANGUAGE,
    },
    passEnv: [],
    argv: ["node", IN_CONTAINER.guest, IN_CONTAINER.jobFile],
  };
}

/** Writes the principal HEAD's files by plumbing, like a snapshot's, and what the guest is to do with them. */
export async function makeSetupWorkspace(
  services: RunServices,
  spec: RunSpec,
  setup: SetupSpec,
): Promise<Result<Layers, Failure>> {
  const { paths } = services;
  const at = (name: string): string => join(paths.setup, name);
  const made = await makeThrowaway(services, {
    places: {
      workspace: setupWorkspace(paths),
      overlayWork: at("overlay-work"),
      store: at("base.git"),
      index: at("index"),
    },
    base: spec.principalHead,
    kept: spec.principalHead,
    branch: spec.branch,
    owner: spec.container,
    // What the commands make of the whole tree is read afterwards, and over layers a renamed directory is not in one piece.
    method: "copy",
    addUntracked: async () => ok({ paths: [], under: [] }),
  });
  if (!made.ok) return made;
  await mkdir(at("job"), { recursive: true, mode: 0o755 });
  await writeAccounts(at("job"), spec.container);
  await copyFile(services.guestBundle, at("job/guest.cjs"));
  const job = `${JSON.stringify(jobOf(spec, setup), null, 2)}\n`;
  await writeAtomic(at("job/job.json"), job, 0o644);
  return ok(made.value.layers);
}

function jobOf(spec: RunSpec, { commands }: SetupSpec): GuestJob {
  const { workspace, artifacts, prompt, store, baseIndex } = IN_CONTAINER;
  return {
    version: 1,
    runId: spec.runId,
    mode: "setup",
    isolation: "container",
    commands,
    base: spec.principalHead,
    // There is none; its environment is that of the commands.
    agent: { argv: [], env: PROXY_ENVIRONMENT, homeFiles: {} },
    author: spec.agent.author,
    relays: [PROXY_RELAY],
    overlayPaths: [],
    paths: { workspace, artifacts, prompt, baseStore: store, baseIndex },
  };
}
