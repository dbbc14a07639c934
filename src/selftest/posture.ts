import type { Agreed } from "./agreed.ts";
import { agreedMounts, describedMount } from "./posture-mounts.ts";
import { type Found, NOT_SETUID } from "./probe/found.ts";

/** One part of the container's posture, as a probe inside sees it. */
export interface PosturePart {
  readonly name: string;
  /** Completes the sentence "The agent …". */
  readonly tries: string;
  readonly holds: (found: Found, agreed: Agreed) => boolean;
  /** Why this image or kernel has nothing to show; undefined where it has. What cannot be seen is not held. */
  readonly notShown?: (found: Found) => string | undefined;
  /** What the probe saw, in a few words. */
  readonly seen: (found: Found, agreed: Agreed) => string;
}

const NO_CAPABILITY = "0".repeat(16);
const CAPABILITY_SETS = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
const INIT = /^(docker-init|tini|catatonit|podman-init)$/;
/** Init, guest, and the shell that started the probe, with one to spare. */
const MOST_PROCESSES = 4;
const NO_ROUTE = /^E(NETUNREACH|HOSTUNREACH|NETDOWN)$/;
const DEVICES = new Set(
  "console core fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero".split(
    " ",
  ),
);
/** /dev/shm is the container's own, in memory, and counted against its memory limit. */
const WRITABLE = ["/dev/shm", "/guardloop/artifacts", "/guardloop/home", "/tmp", "/workspace"];

const privileges: readonly PosturePart[] = [
  {
    name: "user",
    tries: "looks whether it is root, or in a group of the host's",
    holds: ({ uid, gid, groups, userName }, agreed) =>
      uid !== 0 &&
      uid === agreed.uid &&
      gid === agreed.gid &&
      groups.every((group) => group === agreed.gid) &&
      userName === "guardloop",
    seen: ({ uid, gid, groups }) => `uid ${uid}, gid ${gid}, groups ${groups.join(" ")}`,
  },
  {
    name: "capabilities",
    tries: "looks for a capability that it has or could get",
    holds: ({ status }) => CAPABILITY_SETS.every((set) => status[set] === NO_CAPABILITY),
    seen: ({ status }) => `CapEff ${status["CapEff"] ?? "?"}, CapBnd ${status["CapBnd"] ?? "?"}`,
  },
  {
    name: "no-new-privileges",
    tries: "looks whether a setuid program would raise its rights",
    holds: ({ status }) => status["NoNewPrivs"] === "1",
    seen: ({ status }) => `NoNewPrivs ${status["NoNewPrivs"] ?? "?"}`,
  },
  {
    name: "setuid",
    tries: "starts a program of the image that is setuid root",
    notShown: ({ setuid }) =>
      setuid === "ENOENT" || setuid === NOT_SETUID ? "the image has no such program" : undefined,
    holds: ({ setuid }, agreed) => setuid === String(agreed.uid),
    seen: ({ setuid }) => `it runs as uid ${setuid || "?"}`,
  },
  {
    name: "seccomp",
    tries: "looks whether every system call is open to it",
    holds: ({ status }) => status["Seccomp"] === "2",
    seen: ({ status }) => `Seccomp ${status["Seccomp"] ?? "?"}`,
  },
];

const namespaces: readonly PosturePart[] = [
  {
    name: "hostname",
    tries: "reads the name of the host",
    holds: ({ hostname }) => hostname === "guardloop",
    seen: ({ hostname }) => hostname,
  },
  {
    name: "init",
    tries: "looks who would reap what it leaves behind",
    holds: ({ firstProcess }) => INIT.test(firstProcess),
    seen: ({ firstProcess }) => `process 1 is ${firstProcess}`,
  },
  {
    name: "processes",
    tries: "looks for processes other than its own",
    holds: ({ processes }) => processes.length <= MOST_PROCESSES,
    seen: ({ processes }) => few(processes),
  },
  {
    name: "cgroup-namespace",
    tries: "looks for the control groups of the host",
    holds: ({ cgroupPaths }) => cgroupPaths.every((path) => path.endsWith(":/")),
    seen: ({ cgroupPaths }) =>
      few(cgroupPaths.filter((path) => !path.endsWith(":/"))) || "its own root alone",
  },
  {
    name: "ipc",
    tries: "looks for the shared memory of the host",
    holds: ({ mounts }) =>
      mounts.some(({ target, source }) => target === "/dev/shm" && source === "shm"),
    seen: ({ mounts }) =>
      `/dev/shm is ${mounts.find(({ target }) => target === "/dev/shm")?.source ?? "not mounted"}`,
  },
];

const networks: readonly PosturePart[] = [
  {
    name: "network",
    tries: "looks for an interface but loopback, or a route",
    holds: ({ interfaces, routes }) => interfaces.join(" ") === "lo" && routes === 0,
    seen: ({ interfaces, routes }) => `${few(interfaces)}, ${routes} routes`,
  },
  {
    name: "outside",
    tries: "connects to addresses outside, that of the cloud's metadata included",
    holds: ({ outside }) => Object.values(outside).every((how) => NO_ROUTE.test(how)),
    seen: ({ outside }) => few(pairs(outside)),
  },
];

const limits: readonly PosturePart[] = [
  {
    name: "memory",
    tries: "reads how much memory it may take",
    holds: ({ cgroup }, agreed) => cgroup["memory"] === String(agreed.memoryBytes),
    seen: ({ cgroup }, agreed) =>
      `${cgroup["memory"] ?? "?"} bytes, agreed are ${agreed.memoryBytes}`,
  },
  {
    name: "swap",
    tries: "reads how much swap it may take on top",
    notShown: ({ cgroup }) =>
      cgroup["swap"] === "ENOENT" ? "this kernel does not count swap" : undefined,
    holds: ({ cgroup }) => cgroup["swap"] === "0",
    seen: ({ cgroup }) => `${cgroup["swap"] ?? "?"} bytes`,
  },
  {
    name: "pids",
    tries: "reads how many processes it may start",
    holds: ({ cgroup }, agreed) => cgroup["pids"] === String(agreed.pids),
    seen: ({ cgroup }, agreed) => `${cgroup["pids"] ?? "?"}, agreed are ${agreed.pids}`,
  },
  {
    name: "cpus",
    tries: "reads how much of the processors it may take",
    holds: ({ cgroup }, agreed) => Number(cgroup["cpus"]) === agreed.cpus,
    seen: ({ cgroup }, agreed) => `${cgroup["cpus"] ?? "?"}, agreed are ${agreed.cpus}`,
  },
  {
    name: "nofile",
    tries: "reads how many files it may open",
    holds: (found) => found.limits["nofile"] === "16384 16384",
    seen: (found) => found.limits["nofile"] ?? "?",
  },
  {
    name: "core",
    tries: "reads whether a crash would write its memory to disk",
    holds: (found) => found.limits["core"] === "0 0",
    seen: (found) => found.limits["core"] ?? "?",
  },
  {
    name: "oom-score",
    tries: "reads whether the host would end it before your own programs",
    holds: ({ oomScoreAdj }) => oomScoreAdj === "500",
    seen: ({ oomScoreAdj }) => oomScoreAdj,
  },
];

const files: readonly PosturePart[] = [
  {
    name: "writable",
    tries: "makes a directory in every directory there is",
    holds: ({ writable }) => sorted(writable) === sorted(WRITABLE),
    seen: ({ writable }) => few(writable),
  },
  {
    name: "opening",
    tries: "opens the guest, its job, the accounts and the kernel's settings for writing",
    holds: ({ opening }) => !Object.values(opening).includes("opened"),
    seen: ({ opening }) =>
      few(Object.keys(opening).filter((path) => opening[path] === "opened")) || "none opened",
  },
  {
    name: "executable",
    tries: "runs a program that it wrote, which builds must be able to do",
    holds: ({ executable }) => Object.values(executable).every((said) => said === "ran"),
    seen: ({ executable }) => few(pairs(executable)),
  },
  {
    name: "mounts",
    tries: "looks for a mount that was not agreed, or with other rights",
    holds: (found, agreed) =>
      sorted(found.mounts.flatMap(describedMount)) === sorted(agreedMounts(agreed)),
    seen: (found, agreed) =>
      few(strangers(found.mounts.flatMap(describedMount), agreedMounts(agreed))) || "as agreed",
  },
  {
    name: "devices",
    tries: "looks for a device of the host's",
    holds: ({ devices }) => devices.every((name) => DEVICES.has(name)),
    seen: ({ devices }) => few(devices.filter((name) => !DEVICES.has(name))) || "the usual ones",
  },
  {
    name: "sockets",
    tries: "looks for the socket of a container engine",
    holds: ({ sockets }) => sockets.length === 0,
    seen: ({ sockets }) => few(sockets) || "none",
  },
];

/** The container's posture, part by part; what is behind each flag is in docs/threat-model.md. */
export const POSTURE: readonly PosturePart[] = [
  ...networks,
  ...privileges,
  ...namespaces,
  ...files,
  ...limits,
];

const FEW = 6;

/** The first of several things, and how many more there are. */
export function few(things: readonly string[]): string {
  const more = things.length - FEW;
  return `${things.slice(0, FEW).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

export function pairs(record: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(record).map(([key, value]) => `${key} ${value}`);
}

function strangers(found: readonly string[], agreed: readonly string[]): readonly string[] {
  const more = found.filter((one) => !agreed.includes(one));
  const missing = agreed.filter((one) => !found.includes(one)).map((one) => `no ${one}`);
  return [...more, ...missing];
}

function sorted(words: readonly string[]): string {
  return words.toSorted().join("\n");
}
