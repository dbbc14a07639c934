import { spawn } from "node:child_process";
import type { StopRequest } from "./stop-request.ts";

const DEADLINE_MS = 10_000;
const READ_BYTES = 4096;
const LONGEST = 200;

export interface VersionQuestion {
  /** Empty where the agent has no way to tell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Asks the agent's program what it is, before it is started: the first line that it prints. Bounded in time and size;
 * whatever goes wrong only leaves the version unknown. What it says is its own claim.
 */
export function askVersion(
  { argv, cwd, env }: VersionQuestion,
  stop: StopRequest,
): Promise<string | undefined> {
  const [program, ...args] = argv;
  if (program === undefined || stop.requested()) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    let said = Buffer.alloc(0);
    let isOver = false;
    const finish = (code: number | null): void => {
      // A late request to stop must not reach whoever has the pid by then.
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      endGroup(child.pid);
      child.stdout.destroy();
      resolve(code === 0 ? firstLine(said) : undefined);
    };
    const deadline = setTimeout(() => finish(null), DEADLINE_MS);
    stop.onRequest(() => finish(null));
    child.stdout.on("data", (chunk: Buffer) => {
      said = Buffer.concat([said, chunk]).subarray(0, READ_BYTES);
    });
    child.on("error", () => finish(null));
    // Its standard output may be held open by what it started; that is ended on its exit.
    child.on("exit", () => isOver || endGroup(child.pid));
    child.on("close", finish);
  });
}

function firstLine(bytes: Buffer): string | undefined {
  const line = bytes
    .toString("utf8")
    .split("\n")
    .find((one) => one.trim() !== "");
  return line?.trim().slice(0, LONGEST);
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: nothing of it is left.
  }
}
