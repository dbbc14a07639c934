import type { EngineKind } from "../core/run-spec.ts";
import { metadataArguments } from "./cloud-metadata.ts";
import { csvField } from "./csv-field.ts";
import { overlayArgument } from "./overlay-mount.ts";
import type { ContainerSpec, Mount } from "./port.ts";

/** What one engine's command line needs to be told otherwise than another's for the same posture. */
interface Dialect {
  /** How a tmpfs comes to belong to the container's user. */
  readonly tmpfsOwner: (user: ContainerSpec["user"]) => string;
  /** The engine's own copy of the output, bounded. */
  readonly log: readonly string[];
  /** What another engine does, or leaves, by itself. */
  readonly more: readonly string[];
}

const DIALECTS: Readonly<Record<EngineKind, Dialect>> = {
  docker: {
    // uid and gid are given because Docker 20.10 ignores `mode=`.
    tmpfsOwner: ({ uid, gid }) => `uid=${uid},gid=${gid}`,
    log: ["--log-driver=local", "--log-opt=max-size=10m", "--log-opt=max-file=2"],
    more: [],
  },
  podman: {
    // Podman refuses `uid=`. `U` gives the directory to the container's user; without `notmpcopyup` it would be filled from the image.
    tmpfsOwner: () => "U,notmpcopyup",
    log: ["--log-driver=none"],
    // Else /run and /var/tmp are writable, without a size, and the environment is not only ours.
    more: [
      "--read-only-tmpfs=false",
      "--unsetenv=container",
      "--unsetenv=TERM",
      // As much as Docker gives.
      "--shm-size=64m",
    ],
  },
};

/**
 * The hardened posture as arguments of the engine's `run`: a pure function of the spec, so that what is kept in the
 * run record can be compared and run again by hand. Each flag is explained in docs/threat-model.md, and what differs
 * between the engines in docs/engines.md.
 */
export function runArguments(kind: EngineKind, spec: ContainerSpec): readonly string[] {
  const dialect = DIALECTS[kind];
  return [
    "run",
    "--rm",
    "--init",
    "--pull=never",
    `--name=${spec.name}`,
    "--hostname=guardloop",
    ...networkArguments(kind, spec.network),
    ...runtimeArguments(spec),
    ...privilegeArguments(spec),
    ...limitArguments(spec),
    ...fileSystemArguments(spec, dialect),
    ...(spec.overlays ?? []).map(
      (overlay) => `--mount=${overlayArgument(kind, overlay, spec.labels)}`,
    ),
    ...dialect.more,
    ...dialect.log,
    "--no-healthcheck",
    ...Object.entries(spec.labels).map(([name, value]) => `--label=${name}=${value}`),
    ...Object.entries(spec.env).map(([name, value]) => `--env=${name}=${value}`),
    ...spec.passEnv.map((name) => `--env=${name}`),
    `--workdir=${spec.workdir}`,
    // The image's own entrypoint is not ours to run.
    `--entrypoint=${spec.argv[0] ?? ""}`,
    spec.image,
    ...spec.argv.slice(1),
  ];
}

function networkArguments(kind: EngineKind, network: ContainerSpec["network"]): readonly string[] {
  return ["--network", network, ...(network === "bridge" ? metadataArguments(kind) : [])];
}

function runtimeArguments({ setup }: ContainerSpec): readonly string[] {
  return [
    ...(setup.runtime === "" ? [] : [`--runtime=${setup.runtime}`]),
    ...(setup.userNamespace === "keep-id" ? ["--userns=keep-id"] : []),
  ];
}

function privilegeArguments(spec: ContainerSpec): readonly string[] {
  return [
    `--user=${spec.user.uid}:${spec.user.gid}`,
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--cgroupns=private",
    "--ipc=private",
  ];
}

function limitArguments(spec: ContainerSpec): readonly string[] {
  const { openFiles, processes } = spec.setup;
  return [
    `--pids-limit=${spec.pids}`,
    `--memory=${spec.memoryBytes}`,
    // Equal to the memory limit: no swap, so that the limit is one.
    `--memory-swap=${spec.memoryBytes}`,
    `--cpus=${spec.cpus}`,
    `--ulimit=nofile=${openFiles}:${openFiles}`,
    "--ulimit=core=0:0",
    ...(processes === null ? [] : [`--ulimit=nproc=${processes}:${processes}`]),
    "--oom-score-adj=500",
  ];
}

function fileSystemArguments(spec: ContainerSpec, dialect: Dialect): readonly string[] {
  const owner = dialect.tmpfsOwner(spec.user);
  return [
    "--read-only",
    `--tmpfs=/tmp:${tmpfsOptions(spec.tmpBytes, owner)}`,
    ...["", ...(spec.homeDirectories ?? []).map((path) => `/${path}`)].map(
      (path) => `--tmpfs=/guardloop/home${path}:${tmpfsOptions(spec.homeBytes, owner)}`,
    ),
    ...spec.mounts.map((mount) => `--mount=${mountArgument(mount)}`),
  ];
}

/** `exec` because builds run programs in /tmp. */
function tmpfsOptions(sizeBytes: number, owner: string): string {
  return `rw,exec,nosuid,nodev,size=${sizeBytes},${owner}`;
}

function mountArgument(mount: Mount): string {
  const fields = [
    "type=bind",
    `source=${mount.source}`,
    `target=${mount.target}`,
    "bind-propagation=rprivate",
    ...(mount.access === "ro" ? ["readonly"] : []),
  ];
  return fields.map(csvField).join(",");
}
