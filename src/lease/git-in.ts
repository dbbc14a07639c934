import type { Git } from "../git/git.ts";

/** Git that works in another directory; a directory that is not there is git's complaint, not an exception. */
export function gitIn(git: Git, path: string): Git {
  return { exec: (args, options) => git.exec(["-C", path, ...args], options) };
}

/** Git that does not start any more once the lease's file is gone: its worktree may be somebody else's then. */
export function fenced(git: Git, fence: string): Git {
  return { exec: (args, options) => git.exec(args, { ...options, onlyWhile: fence }) };
}
