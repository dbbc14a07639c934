import type { ContainerSpec, Mount } from "./port.ts";

/** Open files a container may have. Docker's default can exceed the host's own limit. */
const OPEN_FILES = 16_384;

/**
 * The hardened posture as arguments of `docker run`: a pure function of the spec, so that what is kept in the run
 * record can be compared and run again by hand. Each flag is explained in docs/threat-model.md.
 */
export function runArguments(spec: ContainerSpec): readonly string[] {
  return [
    "run",
    "--rm",
    "--init",
    "--pull=never",
    `--name=${spec.name}`,
    "--hostname=guardloop",
    ...networkArguments(spec.network),
    ...privilegeArguments(spec),
    ...limitArguments(spec),
    ...fileSystemArguments(spec),
    "--log-driver=local",
    "--log-opt=max-size=10m",
    "--log-opt=max-file=2",
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

function networkArguments(network: ContainerSpec["network"]): readonly string[] {
  return ["--network", network];
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
  return [
    `--pids-limit=${spec.pids}`,
    `--memory=${spec.memoryBytes}`,
    // Equal to the memory limit: no swap, so that the limit is one.
    `--memory-swap=${spec.memoryBytes}`,
    `--cpus=${spec.cpus}`,
    `--ulimit=nofile=${OPEN_FILES}:${OPEN_FILES}`,
    "--ulimit=core=0:0",
    "--oom-score-adj=500",
  ];
}

function fileSystemArguments(spec: ContainerSpec): readonly string[] {
  return [
    "--read-only",
    `--tmpfs=/tmp:${tmpfsOptions(spec, spec.tmpBytes)}`,
    `--tmpfs=/guardloop/home:${tmpfsOptions(spec, spec.homeBytes)}`,
    ...spec.mounts.map((mount) => `--mount=${mountArgument(mount)}`),
  ];
}

/** uid and gid are given because Docker 20.10 ignores `mode=`; `exec` because builds run programs in /tmp. */
function tmpfsOptions(spec: ContainerSpec, sizeBytes: number): string {
  return `rw,exec,nosuid,nodev,size=${sizeBytes},uid=${spec.user.uid},gid=${spec.user.gid}`;
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

/** The engine reads `--mount` as one CSV record: a path with a comma or a quote must be quoted. */
function csvField(field: string): string {
  return /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
