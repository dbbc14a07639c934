import type { MountPoint, Posture } from "./posture-probe.ts";

/** What was agreed for one container; sizes in bytes. */
export interface Agreed {
  readonly uid: number;
  readonly gid: number;
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly tmpBytes: number;
  readonly homeBytes: number;
  readonly runId: string;
}

const NO_CAPABILITY = "0".repeat(16);
const INIT = /^(docker-init|tini|catatonit|podman-init)$/;
const DEVICES = new Set(
  "console core fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero".split(
    " ",
  ),
);
/** Mounts that every engine makes for name resolution, and its init. */
const ENGINES_OWN =
  /^\/(etc\/(hosts|hostname|resolv\.conf)|(usr\/)?s?bin\/docker-init|run\/(podman-init|\.containerenv)|dev)$/;

/**
 * Compares what a probe found with what was agreed.
 *
 * @returns the names of the parts of the posture that differ; empty when the container is as agreed.
 */
export function differences(found: Posture, agreed: Agreed): readonly string[] {
  const isAsAgreed: Readonly<Record<string, boolean>> = {
    user: isUser(found, agreed),
    hostname: found.hostname === "guardloop",
    capabilities: ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].every(
      (set) => found.status[set] === NO_CAPABILITY,
    ),
    "no-new-privileges": found.status.NoNewPrivs === "1",
    setuid: found.setuid === String(agreed.uid),
    seccomp: found.status.Seccomp === "2",
    init: INIT.test(found.firstProcess),
    processes: found.processes.length <= 4,
    network: found.interfaces.join(" ") === "lo" && found.routes === 0,
    outside: /^E(NETUNREACH|HOSTUNREACH|NETDOWN)$/.test(found.outside),
    memory: found.cgroup.memory === String(agreed.memoryBytes),
    // A kernel may not count swap; then there is nothing to see.
    swap: found.cgroup.swap === "0" || found.cgroup.swap === "ENOENT",
    pids: found.cgroup.pids === String(agreed.pids),
    cpus: Number(found.cgroup.cpus) === agreed.cpus,
    nofile: found.limits.nofile === "16384 16384",
    core: found.limits.core === "0 0",
    "oom-score": found.oomScoreAdj === "500",
    "cgroup-namespace": found.cgroupPaths.every((path) => path.endsWith(":/")),
    ipc: found.mounts.some(({ target, source }) => target === "/dev/shm" && source === "shm"),
    writable: sorted(found.writable) === sorted(WRITABLE),
    opening: !Object.values(found.opening).includes("opened"),
    executable: Object.values(found.executable).every((said) => said === "ran"),
    mounts: sorted(found.mounts.flatMap(described)) === sorted(agreedMounts(agreed)),
    devices: found.devices.every((name) => DEVICES.has(name)),
    environment: sorted(Object.keys(found.environment)) === sorted(ENVIRONMENT),
    "run-id": found.environment.GUARDLOOP_RUN_ID === agreed.runId,
    sockets: found.sockets.length === 0,
  };
  return Object.entries(isAsAgreed).flatMap(([name, same]) => (same ? [] : [name]));
}

function isUser({ uid, gid, groups, userName }: Posture, agreed: Agreed): boolean {
  return (
    uid !== 0 &&
    uid === agreed.uid &&
    gid === agreed.gid &&
    groups.every((group) => group === agreed.gid) &&
    userName === "guardloop"
  );
}

/** /dev/shm is the container's own, in memory, and counted against its memory limit. */
const WRITABLE = ["/dev/shm", "/guardloop/artifacts", "/guardloop/home", "/tmp", "/workspace"];

const ENVIRONMENT =
  "GUARDLOOP_ARTIFACTS GUARDLOOP_PROMPT GUARDLOOP_RUN_ID HOME HOSTNAME LANG PATH TMPDIR".split(" ");

function described({ target, type, options, source }: MountPoint): readonly string[] {
  if (target === "/") return [`/ ${options.includes("ro") ? "ro" : "rw"}`];
  if (target === "/dev/shm") return [`${target} ${source} ${options.join(",")}`];
  if (ENGINES_OWN.test(target)) return target === "/dev" || options.includes("ro") ? [] : [target];
  return [`${target} ${type === "tmpfs" ? "tmpfs" : "bind"} ${options.join(",")}`];
}

function agreedMounts({ uid, gid, tmpBytes, homeBytes }: Agreed): readonly string[] {
  const tmpfs = (bytes: number): string =>
    ["nodev", "nosuid", "rw", `size=${bytes / 1024}k`, `uid=${uid}`, `gid=${gid}`]
      .toSorted()
      .join(",");
  return [
    "/ ro",
    "/dev/shm shm nodev,noexec,nosuid,rw,size=65536k",
    `/tmp tmpfs ${tmpfs(tmpBytes)}`,
    `/guardloop/home tmpfs ${tmpfs(homeBytes)}`,
    "/workspace bind rw",
    "/guardloop/artifacts bind rw",
    "/guardloop/job bind ro",
    "/guardloop/base.git bind ro",
    "/etc/passwd bind ro",
    "/etc/group bind ro",
  ];
}

function sorted(words: readonly string[]): string {
  return words.toSorted().join("\n");
}
