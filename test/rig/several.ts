import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type World, runsOf } from "./world.ts";

/** Writes and commits a plan of so many tasks that can all be run. */
export function planOf(world: World, count: number): void {
  const tasks = Array.from(
    { length: count },
    (_, index) => `## T${index + 1} — Task ${index + 1}\n\nStatus: ready\n`,
  );
  world.write("docs/TASKS.md", `# Plan\n\n${tasks.join("\n")}`);
  world.commit(`A plan of ${count}`);
}

/** Sets `id` to the first task that the prompt offers. */
export const ASSIGNED = `id=$(sed -n 's/^- \`\\([A-Za-z0-9._-]*\\)\`: .*/\\1/p' "$GUARDLOOP_PROMPT" | head -n 1)`;

/** Does the task `$id`, and marks it done. */
export const DO_IT = `
echo "work on $id" > "$id.txt"
awk -v id="$id" '/^## /{here=($2==id)} here && /^Status: ready/{sub("ready","done")} {print}' docs/TASKS.md > "$HOME/plan.$$"
cat "$HOME/plan.$$" > docs/TASKS.md
printf '%s\\n' "$id" > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
printf 'Do %s\\n' "$id" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;

/** An agent that does the task the host assigned. */
export const ASSIGNED_AGENT = `${ASSIGNED}\n${DO_IT}`;

/**
 * A directory in which agents on the scripted engine meet. An agent enters, and leaves when the test or another agent
 * has made a file; how many were in at once is written down whenever one enters.
 */
export interface Meeting {
  /** Shell: enters, and writes down how many are in. Uses \`id\`. */
  readonly enter: string;
  /** Shell: waits until so many have ever entered. */
  readonly until: (count: number) => string;
  /** Shell: waits for \`open\`. */
  readonly untilOpen: (name: string) => string;
  readonly leave: string;
  readonly open: (name: string) => void;
  /** Resolves when so many have entered. */
  readonly entered: (count: number) => Promise<void>;
  /** The most that were in at once. */
  readonly most: () => number;
}

export function meetingIn(world: World): Meeting {
  const directory = join(world.root, "meeting");
  for (const name of ["in", "ever", "open"]) mkdirSync(join(directory, name), { recursive: true });
  const at = (name: string) => `"${join(directory, name)}"`;
  const ever = () => readdirSync(join(directory, "ever")).length;
  return {
    enter: `touch ${at("in")}/$$; touch ${at("ever")}/$$; ls ${at("in")} | wc -l >> ${at("counts")}`,
    until: (count) => `while [ "$(ls ${at("ever")} | wc -l)" -lt ${count} ]; do sleep 0.05; done`,
    untilOpen: (name) => `while [ ! -e ${at(`open/${name}`)} ]; do sleep 0.05; done`,
    leave: `rm ${at("in")}/$$`,
    open: (name) => writeFileSync(join(directory, "open", name), ""),
    async entered(count) {
      while (ever() < count) await delay(20);
    },
    most() {
      const counts = join(directory, "counts");
      const lines = existsSync(counts) ? readFileSync(counts, "utf8").trim().split("\n") : [];
      return Math.max(0, ...lines.map(Number));
    },
  };
}

/** `T1 ready` of each run, sorted: runs that go on at once have no order of their own. */
export async function tasksAndStates(world: World): Promise<readonly string[]> {
  return (await runsOf(world)).map((run) => `${run.task ?? "-"} ${run.state}`).toSorted();
}
