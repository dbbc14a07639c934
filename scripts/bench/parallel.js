// Several runs at once against the same one after another. The agent waits for a while, as one does for a model.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { artifacts } from "./agents.js";
import { median, rounded } from "./median.js";
import { GUARDLOOP, git, must, stateOf } from "./place.js";
import { makeRepository, usualCommits } from "./repository.js";

const WAITS_SECONDS = 3;

const AGENT = `set -e
id=$(grep -oE 'S[0-9]+' "$GUARDLOOP_PROMPT" | head -n 1)
sleep ${WAITS_SECONDS}
echo "work on $id" > "$id.txt"
awk -v id="$id" '/^## /{here=($2==id)} here && /^Status: ready/{sub("ready","done")} {print}' docs/TASKS.md > "$TMPDIR/plan"
cat "$TMPDIR/plan" > docs/TASKS.md
git add -A
git commit -q -m "Do $id"
${artifacts('echo "$id"')}`;

/** @param {{ runs: number, files: number, repetitions: number, say: (text: string) => void }} options */
export async function parallel(place, { runs, files, repetitions, say }) {
  const repo = join(place.root, "parallel");
  await makeRepository(place, { path: repo, files, commits: usualCommits(files) });
  const entries = Array.from({ length: runs }, (_, index) => entry(index + 1));
  writeFileSync(join(repo, "docs/TASKS.md"), `# Plan\n\n${entries.join("\n")}`);
  git(place, repo, ["commit", "--quiet", "--all", "--message=Plan"]);
  const times = { atOnce: [], inTurn: [] };
  for (let turn = 1; turn <= repetitions; turn += 1)
    for (const [name, flags] of Object.entries(flagsFor(runs))) {
      const seconds = await series(place, { repo, runs, flags, name: `parallel-${name}-${turn}` });
      say(`${runs} runs, ${name}: ${seconds.toFixed(1)} s`);
      times[name].push(seconds);
    }
  const [atOnce, inTurn] = [median(times.atOnce), median(times.inTurn)];
  return {
    runs,
    files,
    repetitions,
    waitsSeconds: WAITS_SECONDS,
    atOnce: rounded(atOnce),
    inTurn: rounded(inTurn),
    ratio: rounded(inTurn / atOnce),
  };
}

function flagsFor(runs) {
  return {
    inTurn: ["--independent"],
    atOnce: [`--parallel=${runs}`, `--max-containers=${runs}`],
  };
}

/** A state of its own each time, so that no task has an open run. */
async function series(place, { repo, runs, flags, name }) {
  const at = stateOf(place, name);
  const argv = [process.execPath, GUARDLOOP, "run", "--json", `--engine=${place.engine}`];
  const limits = [`--max-tasks=${runs}`, "--memory=512m", ...flags];
  const { ms, stdout } = await must(
    [...argv, ...limits, "--agent=command", "--", "sh", "-c", AGENT],
    {
      cwd: repo,
      env: at.env,
    },
  );
  const ready = stdout.match(/"type":"run-ready"/g)?.length ?? 0;
  if (ready !== runs) throw new Error(`${ready} of ${runs} runs became ready.`);
  return ms / 1000;
}

function entry(number) {
  return `## S${number} — Task ${number}\n\nStatus: ready\n`;
}
