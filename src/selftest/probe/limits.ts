import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { read } from "./read.ts";

/** Soft and hard limit of what a process may have. Asked of a shell: not every kernel shows /proc/self/limits. */
export function limits(): Record<string, string> {
  const script = "echo $(ulimit -Sn) $(ulimit -Hn); echo $(ulimit -Sc) $(ulimit -Hc)";
  const [nofile = "", core = ""] = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split(
    "\n",
  );
  return { nofile, core };
}

/** The limits in force, from cgroup v1 or v2. */
export function cgroup(): Record<string, string> {
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
