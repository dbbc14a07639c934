import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { execFileSync, spawn } from "node:child_process";
import { connect } from "node:net";
import { hostname, networkInterfaces, tmpdir, userInfo } from "node:os";
import { join } from "node:path";

// Runs inside a container, bundled into one file, as the agent: node probe.cjs [RESULT]. It looks at what a process
// can do there, by doing it: a flag that says read-only counts for nothing until an open for writing has failed.

/** What a process in the container finds. Plain JSON. */
export interface Posture {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly userName: string;
  readonly hostname: string;
  /** Of /proc/self/status: CapInh, CapPrm, CapEff, CapBnd, CapAmb, NoNewPrivs, Seccomp. */
  readonly status: Readonly<Record<string, string>>;
  /** Effective uid of a program of the image that is setuid root; empty when it could not be seen. */
  readonly setuid: string;
  readonly firstProcess: string;
  /** Command names of all processes but the probe's own. */
  readonly processes: readonly string[];
  readonly interfaces: readonly string[];
  readonly routes: number;
  /** Error code of connecting to an address outside, or `connected`. */
  readonly outside: string;
  readonly limits: Readonly<Record<string, string>>;
  readonly cgroup: Readonly<Record<string, string>>;
  readonly cgroupPaths: readonly string[];
  readonly oomScoreAdj: string;
  /** Directories in which something could be made; what is below one of them is not looked at. */
  readonly writable: readonly string[];
  /** Error code of opening each of these for writing, or `opened`. */
  readonly opening: Readonly<Record<string, string>>;
  readonly executable: Readonly<Record<string, string>>;
  /** Mount point to its options and source, for everything that is not the kernel's own. */
  readonly mounts: readonly MountPoint[];
  readonly devices: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly sockets: readonly string[];
}

export interface MountPoint {
  readonly target: string;
  /** Path on the host's file system, for a bind mount. */
  readonly root: string;
  readonly type: string;
  /** `ro`, `nosuid`, `nodev`, `noexec`, sorted; with sizes of a tmpfs. */
  readonly options: readonly string[];
  readonly source: string;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    return codeOf(error);
  }
};

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

function status(): Record<string, string> {
  const wanted = /^(Cap\w+|NoNewPrivs|Seccomp):\s+(\S+)$/gm;
  return Object.fromEntries(
    [...read("/proc/self/status").matchAll(wanted)].map(([, key, value]) => [key, value]),
  );
}

/** Starts su, which is setuid root and waits for a password, and looks who it runs as. */
async function setuid(): Promise<string> {
  const child = spawn("/bin/su", [], { stdio: ["pipe", "ignore", "ignore"] });
  const failed = new Promise<string>((resolve) =>
    child.on("error", (error) => resolve(codeOf(error))),
  );
  const seen = (): string =>
    /^Name:\s+su$/m.test(read(`/proc/${child.pid}/status`))
      ? (/^Uid:\s+\d+\s+(\d+)/m.exec(read(`/proc/${child.pid}/status`))?.[1] ?? "")
      : "";
  const looked = (async () => {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const found = seen();
      if (found !== "") return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return "";
  })();
  const found = await Promise.race([failed, looked]);
  // A dead child that nobody has fetched would count as a process.
  const ended = new Promise((resolve) => child.on("close", resolve));
  if (child.pid !== undefined && child.kill("SIGKILL")) await ended;
  return found;
}

/** Asked of the kernel by a shell: not every kernel shows /proc/self/limits. */
function limits(): Record<string, string> {
  const script = "echo $(ulimit -Sn) $(ulimit -Hn); echo $(ulimit -Sc) $(ulimit -Hc)";
  const [nofile = "", core = ""] = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split(
    "\n",
  );
  return { nofile, core };
}

/** The limits in force, from cgroup v1 or v2. */
function cgroup(): Record<string, string> {
  const base = "/sys/fs/cgroup";
  if (existsSync(`${base}/cgroup.controllers`)) {
    const [quota = "", period = ""] = read(`${base}/cpu.max`).split(" ");
    return {
      version: "2",
      memory: read(`${base}/memory.max`),
      // On v2 swap is counted by itself.
      swap: read(`${base}/memory.swap.max`),
      pids: read(`${base}/pids.max`),
      cpus: String(Number(quota) / Number(period)),
    };
  }
  const memory = read(`${base}/memory/memory.limit_in_bytes`);
  const both = read(`${base}/memory/memory.memsw.limit_in_bytes`);
  const quota = Number(read(`${base}/cpu/cpu.cfs_quota_us`));
  return {
    version: "1",
    memory,
    swap: /^\d+$/.test(both) ? String(Number(both) - Number(memory)) : both,
    pids: read(`${base}/pids/pids.max`),
    cpus: String(quota / Number(read(`${base}/cpu/cpu.cfs_period_us`))),
  };
}

/** Tries to make a directory in every directory there is, and goes no deeper where that worked. */
function writable(directory: string, found: string[] = []): readonly string[] {
  const attempt = join(directory, ".posture-probe");
  try {
    mkdirSync(attempt);
    rmdirSync(attempt);
    found.push(directory);
    return found;
  } catch {
    // Not here.
  }
  if (directory === "/proc" || directory === "/sys") return found;
  let entries: { name: string; isDirectory: () => boolean }[] = [];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return found;
  }
  for (const entry of entries)
    if (entry.isDirectory()) writable(join(directory, entry.name), found);
  return found;
}

const TO_OPEN = [
  "/etc/passwd",
  "/etc/group",
  "/etc/hosts",
  "/etc/resolv.conf",
  "/usr/bin/env",
  "/guardloop/job/guest.mjs",
  "/guardloop/job/job.json",
  "/guardloop/job/prompt.md",
  "/guardloop/base.git/HEAD",
  "/proc/sys/kernel/core_pattern",
  "/proc/sysrq-trigger",
  "/proc/kcore",
];

function opening(path: string): string {
  try {
    // Neither creates nor truncates.
    closeSync(openSync(path, constants.O_WRONLY));
    return "opened";
  } catch (error) {
    return codeOf(error);
  }
}

/** Whether a program that was just written runs. */
function executable(directory: string): string {
  const path = join(directory, ".posture-probe.sh");
  try {
    writeFileSync(path, "#!/bin/sh\necho ran\n", { mode: 0o755 });
    const said = execFileSync(path, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    execFileSync("rm", [path]);
    return said.trim();
  } catch (error) {
    return codeOf(error);
  }
}

const SHOWN_OPTIONS = /^(ro|rw|nosuid|nodev|noexec|size=.*|uid=.*|gid=.*)$/;

function mounts(): readonly MountPoint[] {
  const kernel = /^(proc|sysfs|cgroup2?|devpts|mqueue)$/;
  return read("/proc/self/mountinfo")
    .split("\n")
    .map((line) => {
      const [before = "", after = ""] = line.split(" - ");
      const [, , , root = "", target = "", options = ""] = before.split(" ");
      const [type = "", source = "", superOptions = ""] = after.split(" ");
      const sizes = superOptions.split(",").filter((one) => /^(size|uid|gid)=/.test(one));
      const all = [...options.split(","), ...sizes].filter((one) => SHOWN_OPTIONS.test(one));
      return { target, root, type, options: all.toSorted(), source };
    })
    .filter((mount) => !kernel.test(mount.type) && !/^\/(proc|sys)\//.test(mount.target));
}

function processes(): readonly string[] {
  const own = new Set([String(process.pid)]);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && !own.has(name))
    .map((pid) => read(`/proc/${pid}/comm`));
}

function outside(): Promise<string> {
  return new Promise((resolve) => {
    // TEST-NET-1 (RFC 5737): belongs to nobody, so that only the container's own network decides.
    const socket = connect({ host: "192.0.2.1", port: 9, timeout: 2_000 });
    const end = (how: string) => (): void => {
      socket.destroy();
      resolve(how);
    };
    socket.on("connect", end("connected"));
    socket.on("timeout", end("no answer"));
    socket.on("error", (error) => end(codeOf(error))());
  });
}

function sockets(): readonly string[] {
  return [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
  ].filter((path) => existsSync(path));
}

async function probe(): Promise<Posture> {
  const { uid, gid, username } = userInfo();
  return {
    uid,
    gid,
    groups: process.getgroups?.() ?? [],
    userName: username,
    hostname: hostname(),
    status: status(),
    firstProcess: read("/proc/1/comm"),
    processes: processes(),
    interfaces: Object.keys(networkInterfaces()).concat(
      readdirSync("/sys/class/net").filter((name) => name !== "lo"),
    ),
    routes: read("/proc/net/route").split("\n").length - 1,
    outside: await outside(),
    limits: limits(),
    cgroup: cgroup(),
    cgroupPaths: read("/proc/self/cgroup").split("\n"),
    oomScoreAdj: read("/proc/self/oom_score_adj"),
    writable: writable("/"),
    opening: Object.fromEntries(TO_OPEN.map((path) => [path, opening(path)])),
    executable: Object.fromEntries(
      ["/workspace", tmpdir(), process.env.HOME ?? "/"].map((path) => [path, executable(path)]),
    ),
    mounts: mounts(),
    devices: readdirSync("/dev").toSorted(),
    environment: { ...process.env } as Record<string, string>,
    sockets: sockets(),
    // Last: its helpers would count as processes for a moment.
    setuid: await setuid(),
  };
}

async function main(): Promise<void> {
  const text = `${JSON.stringify(await probe(), null, 1)}\n`;
  const [, , result] = process.argv;
  if (result === undefined) process.stdout.write(text);
  else writeFileSync(result, text);
}

void main();
