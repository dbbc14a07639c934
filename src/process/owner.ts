import { readFileSync } from "node:fs";
import { errnoOf } from "../core/errno.ts";

/** Names one process for good: a pid alone is reused, and a boot starts the numbers again. */
export interface Owner {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks after boot. Empty where /proc is not there. */
  readonly startTime: string;
  readonly bootId: string;
  readonly host: string;
}

export function ownerOf(pid: number, host: string): Owner {
  return { pid, startTime: startTimeOf(pid) ?? "", bootId: bootId(), host };
}

/** True unless it is proven that the process is gone. A process on another host counts as alive. */
export function mayBeAlive(owner: Owner, host: string): boolean {
  if (owner.host !== host) return true;
  if (owner.bootId !== bootId()) return false;
  if (!isRunning(owner.pid)) return false;
  return owner.startTime === "" || startTimeOf(owner.pid) === owner.startTime;
}

/** What became of a signal to an owner; only `sent` reached it. */
export type Signalled = "sent" | "gone" | "elsewhere" | "unproven" | "denied";

/**
 * Signals a process that was written down earlier, and no other one that has its number now: boot and start time are
 * compared right before. Where the start time is not known (no /proc), nothing is sent.
 */
export function signalOwner(owner: Owner, host: string, signal: NodeJS.Signals): Signalled {
  if (owner.host !== host) return "elsewhere";
  if (!mayBeAlive(owner, host)) return "gone";
  if (owner.startTime === "" || owner.bootId === "") return "unproven";
  try {
    process.kill(owner.pid, signal);
    return "sent";
  } catch (error) {
    return errnoOf(error) === "EPERM" ? "denied" : "gone";
  }
}

/** Whether there is a process of this number now, whichever it is. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

function startTimeOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses and may hold spaces; count from behind it.
  const [state = "", ...fields] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  // A zombie is gone, and only waits for a parent that asks how it ended; that may never come.
  return /[ZX]/.test(state) ? undefined : fields[18];
}

/** Names the time since the machine was started; empty where the system does not tell. */
export function bootId(): string {
  return readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
