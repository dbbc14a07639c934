import { spawn } from "node:child_process";

/**
 * Starts a program of our own that goes on after us, and does not wait for it: in a session and process group of its
 * own, so that neither Ctrl-C nor a closed terminal ends it, without input, output and environment.
 *
 * @param argv an absolute path, and arguments. Never a shell string.
 */
export function startDetached([program, ...args]: readonly [string, ...string[]]): void {
  // No directory is held that somebody might want to remove or unmount.
  const child = spawn(program, args, { cwd: "/", env: {}, stdio: "ignore", detached: true });
  // Whoever starts it is as well off without it: what it would have done is found by the next one.
  child.on("error", () => undefined);
  child.unref();
}
