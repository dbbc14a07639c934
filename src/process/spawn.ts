import { type ChildProcess, spawn } from "node:child_process";
import { type Result, err, ok } from "../core/result.ts";
import { boundedBuffer } from "./bounded-buffer.ts";
import { withinBounds } from "./bounds.ts";
import { behindFence } from "./fence.ts";
import type { Command, Exit, NotStarted } from "./command.ts";

const DEFAULT_MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Between SIGTERM and SIGKILL when a deadline has passed. */
const KILL_GRACE_MS = 2_000;
/** A grandchild may hold the pipes open after the child is gone; we do not wait longer than this for it. */
const PIPE_GRACE_MS = 1_000;

/** Children that run now; see `endLivingChildren`. */
const living = new Set<ChildProcess>();

/** Ends every child at once, for a process that is about to exit: their groups are not ended with ours. */
export function endLivingChildren(): void {
  for (const child of living) signalGroup(child, "SIGKILL");
}

/**
 * Runs a program to its end. The only place in guardloop that starts processes: argv only, a built
 * environment, a process group of its own, a deadline, bounded output.
 */
export function run(command: Command): Promise<Result<Exit, NotStarted>> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const { bounds, onlyWhile } = command;
    const argv = onlyWhile === undefined ? command.argv : behindFence(command.argv, onlyWhile);
    const [program, ...args] = bounds === undefined ? argv : withinBounds(argv, bounds);
    const child = spawn(program, args, {
      cwd: command.cwd,
      env: { ...command.env },
      stdio: ["pipe", "pipe", "pipe"],
      shell: false,
      detached: true,
    });
    living.add(child);
    const limit = command.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES;
    const stdout = boundedBuffer(limit);
    const stderr = boundedBuffer(limit);
    child.stdout.on("data", (chunk: Buffer) => {
      stdout.add(chunk);
      command.onOutput?.("stdout", chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr.add(chunk);
      command.onOutput?.("stderr", chunk);
    });
    const ending = endOnDeadlineOrAbort(child, command);
    feedStdin(child, command.stdin);

    let settled = false;
    child.on("error", (error: NodeJS.ErrnoException) => {
      // Also emitted when a signal could not be delivered; only a child without a pid never started.
      if (child.pid !== undefined || settled) return;
      settled = true;
      living.delete(child);
      ending.dispose();
      resolve(err({ argv: command.argv, reason: error.code ?? error.message }));
    });
    child.on("exit", () => setTimeout(() => destroyPipes(child), PIPE_GRACE_MS).unref());
    child.on("close", (code, signal) => {
      if (settled) return;
      settled = true;
      living.delete(child);
      ending.dispose();
      resolve(
        ok({
          argv: command.argv,
          code,
          signal,
          stdout: stdout.bytes(),
          stderr: stderr.bytes(),
          ended: ending.how(),
          truncated: stdout.truncated() || stderr.truncated(),
          durationMs: performance.now() - startedAt,
          ...(bounds === undefined ? {} : { bounds }),
        }),
      );
    });
  });
}

function feedStdin(child: ChildProcess, stdin: string | Uint8Array | undefined): void {
  // A child that exits without reading makes the pipe fail with EPIPE: its exit code tells the story.
  child.stdin?.on("error", () => {});
  child.stdin?.end(stdin);
}

function destroyPipes(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function endOnDeadlineOrAbort(child: ChildProcess, command: Command) {
  let how: Exit["ended"] = "by-itself";
  let hard: NodeJS.Timeout | undefined;
  const end = (why: Exit["ended"]): void => {
    if (how !== "by-itself") return;
    how = why;
    signalGroup(child, "SIGTERM");
    hard = setTimeout(() => signalGroup(child, "SIGKILL"), KILL_GRACE_MS);
  };
  const onAbort = (): void => end("aborted");
  const deadline = setTimeout(() => end("deadline"), command.deadlineMs);
  if (command.signal?.aborted === true) onAbort();
  else command.signal?.addEventListener("abort", onAbort, { once: true });
  return {
    how: () => how,
    dispose(): void {
      clearTimeout(deadline);
      clearTimeout(hard);
      command.signal?.removeEventListener("abort", onAbort);
      // Whatever the child started is ended with it.
      if (how !== "by-itself") signalGroup(child, "SIGKILL");
    },
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // ESRCH: the group is gone already, which is what was wanted.
  }
}
