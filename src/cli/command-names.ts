interface CommandName {
  /** What stands behind the name in the list of commands. */
  readonly usage: string;
  readonly summary: string;
}

/** Every command in the order of the help, which is printed without loading any of them. */
export const COMMANDS = {
  init: {
    usage: "[options]",
    summary: "write a commented guardloop.toml and, where there is none, a task plan",
  },
  doctor: {
    usage: "[options]",
    summary: "check everything that a run needs, and say how to mend it; --fix mends what is safe",
  },
  tasks: {
    usage: "[options]",
    summary: "list the tasks of the plan and why each can or cannot be run",
  },
  explain: {
    usage: "[options] [command...]",
    summary: "say what a run with these settings could read, reach and leak",
  },
  run: {
    usage: "[options] [command...]",
    summary: "take tasks from the plan and let an agent do them, guarded",
  },
  runs: { usage: "[options]", summary: "list the runs of this repository, newest first" },
  show: {
    usage: "[options] <run>",
    summary: "show everything about one run: state, what to do, task, result, surroundings",
  },
  logs: { usage: "[options] <run>", summary: "print what the agent printed, also while it works" },
  watch: { usage: "[options] [run]", summary: "look at a running run from another terminal, live" },
  stop: {
    usage: "[options] <run>",
    summary: "end a running run from another terminal, and wait for its end",
  },
  export: {
    usage: "[options] <run>",
    summary: "write everything that explains a run into one archive, without credentials",
  },
  verify: {
    usage: "[options] <archive>",
    summary: "check an exported archive against its provenance, offline",
  },
  review: { usage: "[options] <run>", summary: "show what a run would land, and decide about it" },
  compare: { usage: "[options] [run...]", summary: "show attempts at one task side by side" },
  validate: {
    usage: "[options] <run>",
    summary: "run the project's validation commands on a run's result again",
  },
  salvage: {
    usage: "[options] <run>",
    summary: "turn what a failed or interrupted run left into an agent branch",
  },
  promote: { usage: "[options] <run>", summary: "land a run's work on your checkout" },
  discard: { usage: "[options] <run>", summary: "drop a run's branch, keeping what restore needs" },
  restore: {
    usage: "[options] <run>",
    summary: "take a discard back, or open a rolled-back run again",
  },
  rollback: { usage: "[options] <run>", summary: "undo a promotion" },
  branches: {
    usage: "[options]",
    summary: "list the agents' branches, and prune those that are landed or discarded",
  },
  recover: { usage: "[options]", summary: "finish or clean up runs whose process died" },
  notify: { usage: "[options]", summary: "send a test notification through every configured way" },
  gc: {
    usage: "[options]",
    summary: "list what may go: old records, snapshots, worktrees, refs, images; --yes removes it",
  },
  image: { usage: "", summary: "build the image that agents run in" },
  selftest: {
    usage: "[options]",
    summary: "try to break the boundary on this machine, with your engine and image",
  },
  config: {
    usage: "[options]",
    summary: "show every setting with its value and where it came from",
  },
  trust: {
    usage: "[options]",
    summary: "let this repository's guardloop.toml loosen the boundary",
  },
} as const satisfies Readonly<Record<string, CommandName>>;

export type CommandWord = keyof typeof COMMANDS;

export const COMMAND_WORDS = Object.keys(COMMANDS).filter(isCommand);

export function isCommand(word: string): word is CommandWord {
  return Object.hasOwn(COMMANDS, word);
}
