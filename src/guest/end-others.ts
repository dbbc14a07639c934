import { readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { GuestJob } from "../core/artifacts.ts";
import type { Say } from "./say.ts";

const CHECK_EVERY_MS = 50;
const CHECKS = 100;

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
export async function firstProcessCommandLine(): Promise<string> {
  try {
    return await readFile("/proc/1/cmdline", "utf8");
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
    if ((await others()).length === 0) break;
    await delay(CHECK_EVERY_MS);
  }
  const left = await others();
  if (left.length > 0) say(`these processes did not end: ${left.join(", ")}.`);
  // A set-up that keeps the run's own directories below /tmp is not the one this was made for.
  const isRunElsewhere = Object.values(paths).every((path) => !path.startsWith("/tmp/"));
  if (isRunElsewhere && tmpdir() === "/tmp") await emptyTmp(say);
}

function killAll(): void {
  try {
    // kill(2): -1 is every process but the first one and the caller.
    process.kill(-1, "SIGKILL");
  } catch {
    // ESRCH: there is none.
  }
}

async function others(): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const alive = await Promise.all(
    pids
      .filter((pid) => pid !== "1" && pid !== String(process.pid))
      .map(async (pid) => ((await isAlive(pid)) ? pid : undefined)),
  );
  return alive.filter((pid): pid is string => pid !== undefined);
}

/** A zombie is dead; it only waits for its parent to notice. */
async function isAlive(pid: string): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    return !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1));
  } catch {
    return false;
  }
}

async function emptyTmp(say: Say): Promise<void> {
  for (const name of await readdir("/tmp").catch(() => [])) {
    await rm(join("/tmp", name), { recursive: true, force: true }).catch(() => {
      say(`/tmp/${name} could not be removed.`);
    });
  }
}
