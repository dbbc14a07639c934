import { type ChildProcess, spawn } from "node:child_process";
import type { Manifest } from "../core/artifacts.ts";
import type { Say } from "./say.ts";
import type { StopRequest } from "./stop-request.ts";

export type AgentReport = Manifest["agent"];

export interface AgentStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** From SIGTERM to SIGKILL for the agent's process group. */
const STOP_GRACE_MS = 5_000;

export const NOT_RUN: AgentReport = { outcome: "not-run", exitCode: null, signal: null };

/**
 * Runs the agent to its end. Its output goes straight to ours, its standard input is empty. A stop request ends
 * its process group, politely first.
 */
export function runAgent(start: AgentStart, stop: StopRequest, say: Say): Promise<AgentReport> {
  if (stop.requested()) return Promise.resolve({ ...NOT_RUN, outcome: "stopped" });
  return new Promise((resolve) => {
    let child: ChildProcess;
    const notStarted = (error: unknown): void => {
      say(`the agent ${start.argv[0] ?? ""} could not be started: ${reason(error)}.`);
      resolve({ ...NOT_RUN, outcome: "not-started" });
    };
    try {
      child = launch(start);
    } catch (error) {
      notStarted(error);
      return;
    }
    let isStopping = false;
    let hard: NodeJS.Timeout | undefined;
    child.on("error", (error) => {
      // Also emitted for a signal that could not be sent; only a child without a pid never started.
      if (child.pid === undefined) notStarted(error);
    });
    child.on("exit", (exitCode, signal) => {
      clearTimeout(hard);
      if (isStopping) signalGroup(child, "SIGKILL");
      const ended = signal === null ? "exited" : "signalled";
      resolve({ outcome: isStopping ? "stopped" : ended, exitCode, signal });
    });
    stop.onRequest(() => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      isStopping = true;
      say("asked to stop: ending the agent, then exporting what it left.");
      signalGroup(child, "SIGTERM");
      hard = setTimeout(() => signalGroup(child, "SIGKILL"), STOP_GRACE_MS);
    });
  });
}

function launch(start: AgentStart): ChildProcess {
  const [program, ...args] = start.argv;
  if (program === undefined) throw new Error("the job names no program");
  return spawn(program, args, {
    cwd: start.cwd,
    env: start.env,
    stdio: ["ignore", "inherit", "inherit"],
    // A process group of its own, so that it can be signalled together with its children.
    detached: true,
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // ESRCH: the group is gone, which is what was wanted.
  }
}

function reason(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ENOENT")
    return "no such program on PATH";
  return error instanceof Error ? error.message : String(error);
}
