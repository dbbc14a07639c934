// How soon the program is there, against Node with nothing to do.
import { join } from "node:path";
import { GUARDED_AGENT } from "./agents.js";
import { guarded } from "./guarded.js";
import { median } from "./median.js";
import { GUARDLOOP, must, stateOf } from "./place.js";
import { makeRepository } from "./repository.js";

/** @param {{ repetitions: number, say: (text: string) => void }} options */
export async function startup(place, { repetitions, say }) {
  const repo = join(place.root, "startup");
  await makeRepository(place, { path: repo, files: 50, commits: 50 });
  const at = stateOf(place, "startup");
  say("one run, for `runs` to show");
  await guarded(place, { repo, at, agent: GUARDED_AGENT });
  const commands = {
    "node -e 0": ["-e", "0"],
    "guardloop --version": [GUARDLOOP, "--version"],
    "guardloop --help": [GUARDLOOP, "--help"],
    "guardloop runs": [GUARDLOOP, "runs"],
    "guardloop tasks": [GUARDLOOP, "tasks"],
  };
  const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  // In turn; the first of each warms up.
  for (let turn = 0; turn <= repetitions; turn += 1)
    for (const [name, args] of Object.entries(commands)) {
      const { ms } = await must([process.execPath, ...args], { cwd: repo, env: at.env });
      if (turn > 0) times[name].push(ms);
    }
  const bare = median(times["node -e 0"]);
  return {
    repetitions,
    commands: Object.entries(times).map(([command, all]) => ({
      command,
      ms: Math.round(median(all)),
      least: Math.round(Math.min(...all)),
      overNodeMs: Math.round(median(all) - bare),
    })),
  };
}
