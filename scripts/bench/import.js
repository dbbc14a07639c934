// The import of a long series against `git am` of the same patches in a working tree.
import { join } from "node:path";
import { manyCommits } from "./agents.js";
import { discard, guarded } from "./guarded.js";
import { median, rounded } from "./median.js";
import { git, must, stateOf } from "./place.js";
import { makeRepository, usualCommits } from "./repository.js";

/** @param {{ series: number, files: number, repetitions: number, say: (text: string) => void }} options */
export async function importing(place, { series, files, repetitions, say }) {
  const repo = join(place.root, "import");
  await makeRepository(place, { path: repo, files, commits: usualCommits(files) });
  const at = stateOf(place, "import");
  const times = { guarded: [], am: [] };
  // The first of each warms up.
  for (let turn = 0; turn <= repetitions; turn += 1) {
    const run = await guarded(place, { repo, at, agent: manyCommits(series) });
    const am = await applied(place, repo, join(run.record, "artifacts/patches"));
    await discard(at, repo, run.runId);
    say(`import of ${series}: ${run.stages.import.toFixed(2)} s, git am ${am.toFixed(2)} s`);
    if (turn === 0 && repetitions > 0) continue;
    times.guarded.push(run.stages.import);
    times.am.push(am);
  }
  const [guardedSeconds, amSeconds] = [median(times.guarded), median(times.am)];
  return {
    series,
    files,
    repetitions,
    guarded: rounded(guardedSeconds),
    am: rounded(amSeconds),
    ratio: rounded(guardedSeconds / amSeconds),
  };
}

async function applied(place, repo, patches) {
  const worktree = join(place.root, "am");
  git(place, repo, ["worktree", "add", "--quiet", "--detach", worktree]);
  // In one go, and the shell's glob has the order of the names.
  const { ms } = await must(["sh", "-c", 'git am --quiet "$1"/*.patch', "sh", patches], {
    cwd: worktree,
    env: place.env,
  });
  git(place, repo, ["worktree", "remove", "--force", worktree]);
  return ms / 1000;
}
