import { COMMAND_WORDS, type CommandWord } from "./command-names.ts";
import { begin as beginWith } from "./main.ts";
import type { Frequent } from "./other-commands.ts";
import type { Loaders, MakeCommand } from "./program.ts";

/** The commands that are called most often: in the bundle each is a part of its own. */
const FREQUENT: Required<Pick<Loaders, Frequent>> = {
  tasks: async () => (await import("./commands/tasks.ts")).tasksCommand,
  run: async () => (await import("./commands/run.ts")).runCommand,
  runs: async () => (await import("./commands/runs.ts")).runsCommand,
  show: async () => (await import("./commands/show.ts")).showCommand,
};

function isFrequent(word: CommandWord): word is Frequent {
  return Object.hasOwn(FREQUENT, word);
}

async function load(word: CommandWord): Promise<MakeCommand> {
  if (isFrequent(word)) return FREQUENT[word]();
  const { OTHERS } = await import("./other-commands.ts");
  return OTHERS[word]();
}

/** Every command, loaded when it is wanted: starting up is most of what `runs` costs. */
const LOADERS: Loaders = Object.fromEntries(
  COMMAND_WORDS.map((word) => [word, () => load(word)] as const),
);

/** The part of the bundle from which everything else is reached. */
export async function begin(): Promise<void> {
  await beginWith(LOADERS);
}
