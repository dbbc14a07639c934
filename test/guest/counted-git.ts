import { countingGit } from "../rig/counting-git.ts";
import type { Stage } from "./rig.ts";

export interface CountedGit {
  /** For the guest: its Git is one that writes down how it was started. */
  readonly env: Readonly<Record<string, string>>;
  /** The subcommands that the guest started, sorted; the agent's own calls are not among them. */
  readonly starts: () => readonly string[];
}

/** The guest's Git is told its repository, the agent's is not. */
const FIRST_WORD = `[ -z "$GIT_DIR" ] || for word; do case $word in -c | *=*) ;; *) note "$word"; break ;; esac; done`;

export function countedGit(stage: Stage): CountedGit {
  const { path, starts } = countingGit(stage.directory, FIRST_WORD);
  return { env: { PATH: path }, starts: () => starts().toSorted() };
}
