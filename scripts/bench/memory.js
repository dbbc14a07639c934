// The runner's own memory while an agent prints a lot. Needs /proc.
import { join } from "node:path";
import { GUARDED_AGENT } from "./agents.js";
import { guarded } from "./guarded.js";
import { stateOf } from "./place.js";
import { makeRepository } from "./repository.js";
import { residentKib } from "./watch.js";

const LINE =
  "a line of the agent's output that is about a hundred bytes long, as those of many programs are. 0123";

/** @param {{ megabytes: readonly number[], say: (text: string) => void }} options */
export async function memory(place, { megabytes, say }) {
  const repo = join(place.root, "memory");
  await makeRepository(place, { path: repo, files: 50, commits: 50 });
  const at = stateOf(place, "memory");
  const printed = [];
  for (const size of megabytes) {
    const samples = [];
    let timer;
    const agent = `yes "${LINE}" | head -c ${size}000000\necho\n${GUARDED_AGENT}`;
    const run = await guarded(place, {
      repo,
      at,
      agent,
      under: [],
      onStart(pid) {
        timer = setInterval(() => samples.push(residentKib(pid) ?? 0), 50);
      },
    });
    clearInterval(timer);
    const peakMib = Math.round(Math.max(...samples) / 1024);
    say(
      `${size} MB printed: ${peakMib} MiB at most, ${run.stages.agent.toFixed(1)} s in the container`,
    );
    printed.push({ megabytes: size, peakMib, agentSeconds: run.stages.agent });
  }
  return { printed };
}
