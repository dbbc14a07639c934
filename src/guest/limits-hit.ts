import { readFileSync } from "node:fs";
import type { Manifest } from "../core/artifacts.ts";

const CONTROL_GROUPS = "/sys/fs/cgroup";

/**
 * Where the kernel counts how often it enforced a limit, for control groups v2 and v1: see "memory.events" and
 * "pids.events" in the kernel's admin-guide/cgroup-v2, and mm/memcontrol-v1.c for `oom_kill` in memory.oom_control.
 */
const COUNTERS = {
  memory: { files: ["memory.events", "memory/memory.oom_control"], key: "oom_kill" },
  processes: { files: ["pids.events", "pids/pids.events"], key: "max" },
} as const;

/**
 * How often the container's own limits were enforced, from the control group that the container sees as its root.
 * An engine does not tell of refused processes, and not every one of ended ones. Null where it cannot be seen, as in
 * gVisor.
 */
export function readLimitsHit(root = CONTROL_GROUPS): Manifest["limitsHit"] {
  return {
    memory: read(root, COUNTERS.memory),
    processes: read(root, COUNTERS.processes),
  };
}

function read(root: string, counter: (typeof COUNTERS)[keyof typeof COUNTERS]): number | null {
  for (const file of counter.files) {
    const text = textOf(`${root}/${file}`);
    const count = new RegExp(`^${counter.key} (\\d{1,15})$`, "m").exec(text)?.[1];
    if (count !== undefined) return Number(count);
  }
  return null;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
