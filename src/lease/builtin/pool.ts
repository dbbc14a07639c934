import type { Git } from "../../git/git.ts";

/** What the parts of the built-in pool share. */
export interface Pool {
  /** The user's own git, bound to the principal checkout. */
  readonly git: Git;
  /** Directory of this repository's slots. */
  readonly root: string;
  readonly commonDir: string;
  /** Name of the worktree's directory in a slot. */
  readonly worktree: string;
  readonly host: string;
}
