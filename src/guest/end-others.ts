import { readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { GuestJob } from "../core/artifacts.ts";
import type { Say } from "./say.ts";

/** The pause between two checks grows: most processes are gone at once. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;
const CHECKS = 105;

/**
 * Whether this process namespace is ours alone. Two independent signs are needed, because on a person's machine
 * the answer `true` would end everything that person runs: the host said so, and the first process of the
 * namespace was started to run this very bundle.
 */
export function ownsProcessNamespace(
  isolation: GuestJob["isolation"],
  firstProcess: string,
  bundle: string,
): boolean {
  return (
    isolation === "container" && bundle.startsWith("/") && firstProcess.split("\0").includes(bundle)
  );
}

/** Reads the command line of process 1, NUL between arguments; empty when it cannot be read. */
export function firstProcessCommandLine(): string {
  try {
    return readFileSync("/proc/1/cmdline", "utf8");
  } catch {
    return "";
  }
}

/**
 * Ends every process of the namespace but the first one and ourselves, and empties /tmp, so that nothing changes
 * the workspace during the export and the export has room. Only to be called when `ownsProcessNamespace`.
 */
export async function endOthers(paths: GuestJob["paths"], say: Say): Promise<void> {
  for (let check = 0; check < CHECKS; check += 1) {
    // Again on every check: a process may have forked while the first signal was on its way.
    killAll();
    if (others().length === 0) break;
    await delay(Math.min(FIRST_PAUSE_MS * 2 ** check, LONGEST_PAUSE_MS));
  }
  const left = others();
  if (left.length > 0) say(`these processes did not end: ${left.join(", ")}.`);
  // A set-up that keeps the run's own directories below /tmp is not the one this was made for.
  const isRunElsewhere = Object.values(paths).every((path) => !path.startsWith("/tmp/"));
  if (isRunElsewhere && tmpdir() === "/tmp") emptyTmp(say);
}

function killAll(): void {
  try {
    // kill(2): -1 is every process but the first one and the caller.
    process.kill(-1, "SIGKILL");
  } catch {
    // ESRCH: there is none.
  }
}

function others(): readonly string[] {
  return readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && name !== "1" && name !== String(process.pid) && isAlive(name),
  );
}

/** A zombie is dead; it only waits for its parent to notice. */
function isAlive(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1));
  } catch {
    return false;
  }
}

function emptyTmp(say: Say): void {
  for (const name of namesIn("/tmp")) {
    try {
      rmSync(join("/tmp", name), { recursive: true, force: true });
    } catch {
      say(`/tmp/${name} could not be removed.`);
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
