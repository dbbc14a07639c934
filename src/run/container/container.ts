import { join } from "node:path";
import { type ContainerPurpose, containerName } from "../../core/ids.ts";
import { DOCKER_SETUP, type RunSpec } from "../../core/run-spec.ts";
import type { ContainerSpec } from "../../engine/port.ts";
import { type Layers, snapshotMounts } from "../layers/layers.ts";
import { IN_CONTAINER, type RunPaths } from "../paths.ts";
import { cacheMounts } from "../setup/cache-mounts.ts";

/** Socket files of the gateway that an agent's container gets; none by default. */
export interface AgentSockets {
  /** To the model API. */
  readonly model?: string | undefined;
  /** To the proxy for allowed hosts. */
  readonly proxy?: string | undefined;
}

/** The file alone: with its directory the container could take the socket away and put its own there. */
function socketMounts({ model, proxy }: AgentSockets): ContainerSpec["mounts"] {
  const { modelSocket, proxySocket } = IN_CONTAINER;
  const mounts = [
    { role: "model-socket", source: model, target: modelSocket, access: "ro" },
    { role: "proxy-socket", source: proxy, target: proxySocket, access: "ro" },
  ] as const;
  return mounts.flatMap(({ source, ...mount }) =>
    source === undefined ? [] : [{ ...mount, source }],
  );
}

export type ContainerChoice = { readonly layers: Layers } & (
  | {
      /** Runs the agent. */
      readonly purpose: "agent";
      readonly sockets: AgentSockets;
    }
  /** Only exports, and never has a network, a socket or a passed variable. */
  | { readonly purpose: "salvage" }
);

/**
 * What a run's container is started with: a pure function of the spec and the run's own paths. Nothing of the user's
 * is mounted: not the principal checkout, not the leased worktree.
 */
export function containerSpec(
  spec: RunSpec,
  paths: RunPaths,
  choice: ContainerChoice,
): ContainerSpec {
  const { purpose } = choice;
  const sockets = choice.purpose === "agent" ? choice.sockets : {};
  const { mounts: caches, ...home } =
    purpose === "agent" ? cacheMounts(spec, paths, "ro") : { mounts: [] };
  const snapshot = snapshotMounts(choice.layers, paths);
  return {
    ...commonPart(spec, paths, purpose),
    ...home,
    // In the mode `gateway` too the container has nothing but loopback.
    network: purpose === "agent" && spec.network === "bridge" ? "bridge" : "none",
    overlays: snapshot.overlays,
    mounts: [
      ...snapshot.mounts,
      { role: "artifacts", source: paths.outbox, target: IN_CONTAINER.artifacts, access: "rw" },
      { role: "job", source: paths.job, target: IN_CONTAINER.job, access: "ro" },
      { role: "passwd", source: join(paths.job, "passwd"), target: "/etc/passwd", access: "ro" },
      { role: "group", source: join(paths.job, "group"), target: "/etc/group", access: "ro" },
      ...socketMounts(sockets),
      ...caches,
    ],
    env: {
      GUARDLOOP_ARTIFACTS: IN_CONTAINER.artifacts,
      GUARDLOOP_PROMPT: IN_CONTAINER.prompt,
      GUARDLOOP_RUN_ID: spec.runId,
      ...CONTAINER_LANGUAGE,
    },
    passEnv: purpose === "agent" ? spec.agent.passEnv : [],
    argv: [
      "node",
      IN_CONTAINER.guest,
      `${IN_CONTAINER.job}/${purpose === "agent" ? "job" : "export"}.json`,
    ],
  };
}

/** Where a container's programs find what is theirs, and how they speak. */
export const CONTAINER_LANGUAGE = {
  HOME: IN_CONTAINER.home,
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
} as const;

/** What every container of a run has: name, labels, user, limits. */
export function commonPart(spec: RunSpec, paths: RunPaths, purpose: ContainerPurpose) {
  const { uid, gid, ...limits } = spec.container;
  return {
    name: containerName(spec.runId, purpose),
    image: spec.image.id,
    setup: spec.engine.setup ?? DOCKER_SETUP,
    labels: {
      "guardloop.run": spec.runId,
      "guardloop.repo": spec.repository.id,
      "guardloop.state": paths.stateId,
    },
    user: { uid, gid },
    workdir: IN_CONTAINER.workspace,
    ...limits,
  };
}

/** Where a validation's throwaway work tree is. */
export function validationPlaces({ validation }: RunPaths) {
  return {
    workspace: join(validation, "workspace"),
    overlayWork: join(validation, "overlay-work"),
  };
}

/** The same posture, always without a network, over the throwaway work tree of a validation. */
export function validationSpec(
  spec: RunSpec,
  paths: RunPaths,
  { layers, line }: { readonly layers: Layers; readonly line: string },
): ContainerSpec {
  const at = (name: string): string => join(paths.validation, name);
  const { mounts: caches, ...home } = cacheMounts(spec, paths, "ro");
  const snapshot = snapshotMounts(layers, validationPlaces(paths));
  return {
    ...commonPart(spec, paths, "validate"),
    ...home,
    network: "none",
    overlays: snapshot.overlays,
    mounts: [
      ...snapshot.mounts,
      { role: "passwd", source: at("etc/passwd"), target: "/etc/passwd", access: "ro" },
      { role: "group", source: at("etc/group"), target: "/etc/group", access: "ro" },
      ...caches,
    ],
    env: { GUARDLOOP_RUN_ID: spec.runId, CI: "true", ...CONTAINER_LANGUAGE },
    passEnv: [],
    argv: ["sh", "-c", line],
  };
}
