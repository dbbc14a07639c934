import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Found, MountPoint } from "./found.ts";
import { codeOf, read } from "./read.ts";

/** Tries to make a directory in every directory there is, and goes no deeper where that worked. */
export function writable(directory: string, found: string[] = []): readonly string[] {
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
  "/guardloop/job/guest.cjs",
  "/guardloop/job/job.json",
  "/guardloop/job/prompt.md",
  "/guardloop/base.git/HEAD",
  "/proc/sys/kernel/core_pattern",
  "/proc/sysrq-trigger",
  "/proc/kcore",
];

/** Opens for writing without making or changing anything: a flag that says read-only counts for nothing until this failed. */
export function opening(): Found["opening"] {
  return Object.fromEntries(TO_OPEN.map((path) => [path, openForWriting(path)]));
}

function openForWriting(path: string): string {
  try {
    // Neither creates nor truncates.
    closeSync(openSync(path, constants.O_WRONLY));
    return "opened";
  } catch (error) {
    return codeOf(error);
  }
}

/** Files and directories of the kernel that engines hide behind empty ones. */
const MASKED = [
  "/proc/acpi",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/proc/timer_list",
  "/sys/firmware",
];

/** Those of them that show something. */
export function unmasked(): Found["unmasked"] {
  const seen = MASKED.map((path) => [path, contentOf(path)] as const);
  return Object.fromEntries(seen.filter(([, content]) => content !== ""));
}

function contentOf(path: string): string {
  try {
    return readdirSync(path).slice(0, 5).join(" ");
  } catch (error) {
    return codeOf(error) === "ENOTDIR" ? firstByte(path) : "";
  }
}

function firstByte(path: string): string {
  try {
    const file = openSync(path, constants.O_RDONLY);
    const count = readSync(file, Buffer.alloc(1));
    closeSync(file);
    return count === 0 ? "" : "bytes";
  } catch {
    return "";
  }
}

/** Whether a program that was just written runs. */
export function executable(directory: string): string {
  const path = join(directory, ".posture-probe.sh");
  try {
    writeFileSync(path, "#!/bin/sh\necho ran\n", { mode: 0o755 });
    const said = execFileSync(path, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    unlinkSync(path);
    return said.trim();
  } catch (error) {
    return codeOf(error);
  }
}

const SHOWN_OPTIONS = /^(ro|rw|nosuid|nodev|noexec|size=.*|uid=.*|gid=.*)$/;

/** Every mount that is not the kernel's own. */
export function mounts(): readonly MountPoint[] {
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

/** Sockets with which an engine can be told to do anything on the host. */
export function sockets(): readonly string[] {
  return [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
  ].filter((path) => existsSync(path));
}
