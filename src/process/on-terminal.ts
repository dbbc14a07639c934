import { spawn } from "node:child_process";
import { type Result, err, ok } from "../core/result.ts";
import type { Environment, NotStarted } from "./command.ts";

export interface TerminalCommand {
  /**
   * A shell command line. Only ever the user's own words, such as the setting for the pager, which Git hands to a shell
   * too; never a text that a repository's files or a container could choose.
   */
  readonly line: string;
  readonly cwd: string;
  readonly env: Environment;
  /** Whole standard input; what goes to a terminal through it must be harmless already. */
  readonly stdin: string;
}

function ignore(): void {
  // Its being there is what keeps the signal, or the error, from ending us.
}

/**
 * Runs a program that shares our terminal, such as a pager: it writes to the terminal itself, reads its keys, and
 * belongs to our process group, so that Ctrl-C reaches it. There is no deadline, since a person reads.
 *
 * Meanwhile Ctrl-C is the program's alone: it means "stop searching" in a pager and not that we shall end. The shell in
 * between must outlive it too, or we would think that the pager is gone. dash and bash do; the trap, which children do
 * not inherit, is for the others.
 *
 * @returns the shell's exit status, or null when a signal ended it; 126 and 127 mean that the program could not be started.
 */
export async function runOnTerminal(
  command: TerminalCommand,
): Promise<Result<number | null, NotStarted>> {
  const argv = ["/bin/sh", "-c", `trap : INT\n${command.line}`] as const;
  const listeners = process.listeners("SIGINT");
  process.on("SIGINT", ignore);
  for (const listener of listeners) process.off("SIGINT", listener);
  try {
    return await new Promise((resolve) => {
      const child = spawn(argv[0], argv.slice(1), {
        cwd: command.cwd,
        env: { ...command.env },
        stdio: ["pipe", "inherit", "inherit"],
        shell: false,
      });
      child.on("error", (error: NodeJS.ErrnoException) => {
        if (child.pid === undefined) resolve(err({ argv, reason: error.code ?? error.message }));
      });
      child.on("close", (code) => resolve(ok(code)));
      // A person who has seen enough leaves before the end: the pipe then fails with EPIPE.
      child.stdin.on("error", ignore);
      child.stdin.end(command.stdin);
    });
  } finally {
    for (const listener of listeners) process.on("SIGINT", listener);
    process.off("SIGINT", ignore);
  }
}
