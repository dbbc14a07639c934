// A whole guarded iteration against the raw commands, in turn.
import { join } from "node:path";
import { GUARDED_AGENT, WATCHED_AGENT } from "./agents.js";
import { discard, guarded, guardedWatched } from "./guarded.js";
import { median, medians, rounded } from "./median.js";
import { git, stateOf } from "./place.js";
import { raw, rawArguments } from "./raw.js";
import { addModules, cloneOf, countsOf, makeRepository, usualCommits } from "./repository.js";
import { settled } from "./watch.js";

const MODULE_FILES = 50_000;

/**
 * @param {{ sizes: readonly number[], variants: readonly string[], repetitions: number, commits?: number, repo?: string, say: (text: string) => void }} options
 *   variants: `plain`; `ignored`, with a node_modules beside it; `overlay`, with one that a rule lets in
 */
export async function iteration(place, options) {
  const cases = [];
  const sources = options.repo === undefined ? options.sizes : [options.repo];
  for (const source of sources) {
    const name = typeof source === "number" ? `files-${source}` : "given";
    const repo = join(place.root, name);
    options.say(`making a repository: ${source}`);
    if (typeof source === "number")
      await makeRepository(place, {
        path: repo,
        files: source,
        commits: options.commits ?? usualCommits(source),
      });
    else cloneOf(place, source, repo);
    const counts = countsOf(place, repo);
    let modules = 0;
    for (const variant of options.variants) {
      if (variant !== "plain" && modules === 0) {
        options.say(`adding ${MODULE_FILES} ignored files`);
        addModules(repo, MODULE_FILES);
        modules = MODULE_FILES;
      }
      const what = { repo, name: `${name}-${variant}`, variant };
      const result = await oneCase(place, what, options);
      cases.push({
        repository: options.repo === undefined ? "made" : "given",
        ...counts,
        variant,
        ...result,
      });
    }
  }
  return { repetitions: options.repetitions, cases };
}

async function oneCase(place, { repo, name, variant }, { repetitions, say }) {
  const at = stateOf(place, name);
  const flags = variant === "overlay" ? ["--overlay", "node_modules/**"] : [];
  const modules = variant === "overlay" ? join(repo, "node_modules") : undefined;
  const run = async () => {
    const one = await guarded(place, { repo, at, flags, agent: GUARDED_AGENT });
    await discard(at, repo, one.runId);
    await settled(place.root);
    return one;
  };
  say(`${name}: warming up`);
  const cold = await run();
  const engineArguments = rawArguments(place, cold.record);
  const byHand = (mode) => raw(place, { repo, engineArguments, modules, mode });
  await byHand("timed");
  const [guardedRuns, rawRuns] = [[], []];
  for (let turn = 1; turn <= repetitions; turn += 1) {
    guardedRuns.push(await run());
    rawRuns.push(await byHand("timed"));
    say(
      `${name}: ${turn} of ${repetitions}: ${inWords(guardedRuns.at(-1))} guarded, ${inWords(rawRuns.at(-1))} raw`,
    );
  }
  say(`${name}: memory and disk`);
  const watched = await guardedWatched(place, { repo, at, flags, agent: WATCHED_AGENT });
  await discard(at, repo, watched.runId);
  const { treeKib, diskDuringKib } = await byHand("watched");
  git(place, repo, ["worktree", "prune"]);
  return summary({ cold, guardedRuns, rawRuns, watched, rawWatched: { treeKib, diskDuringKib } });
}

function summary({ cold, guardedRuns, rawRuns, watched, rawWatched }) {
  const guardedTotal = median(guardedRuns.map((one) => one.total));
  const rawTotal = median(rawRuns.map((one) => one.total));
  const container = median(rawRuns.map((one) => one.stages.run));
  const stages = medians(guardedRuns.map((one) => one.stages));
  return {
    guarded: {
      total: rounded(guardedTotal),
      cpu: rounded(median(guardedRuns.map((one) => one.cpu))),
      cold: rounded(cold.total),
      afterwards: rounded(median(guardedRuns.map((one) => one.afterwards))),
      stages,
      ...watched,
    },
    raw: {
      total: rounded(rawTotal),
      cpu: rounded(median(rawRuns.map((one) => one.cpu))),
      stages: medians(rawRuns.map((one) => one.stages)),
      ...rawWatched,
    },
    ratio: rounded(guardedTotal / rawTotal),
    overRawContainer: rounded(guardedTotal - container),
    overOwnContainer: rounded(guardedTotal - stages.agent),
  };
}

function inWords({ total }) {
  return `${total.toFixed(2)} s`;
}
