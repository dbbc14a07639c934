// One `guardloop run`, and what its record says about it.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GUARDLOOP, must } from "./place.js";
import { diskKib, settled, watchTree } from "./watch.js";

/** Adds the processor's seconds of a program and of all it waited for to its standard error. */
export const CPU = ["bash", "-c", 'TIMEFORMAT="bench-cpu %U %S"; time "$@"', "bash"];
const HOOK = fileURLToPath(new URL("count-hook.mjs", import.meta.url));

/**
 * Runs one task, and returns seconds by stage. `start` is everything before the run's first event, `end` everything
 * after its last; `afterwards` is what goes on when the command has ended, which is in no sum.
 *
 * @param {{ repo: string, at: { env: object, state: string }, agent: string, flags?: readonly string[], under?: readonly string[] }} options
 *   under: what the program is started by; nothing where the process that is started has to be the runner itself
 */
export async function guarded(
  place,
  { repo, at, agent, flags = [], under = CPU, onLine, onStart },
) {
  const argv = [process.execPath, GUARDLOOP, "run", "--json", `--engine=${place.engine}`, ...flags];
  let runId;
  const ended = await must([...under, ...argv, "--agent=command", "--", "sh", "-c", agent], {
    cwd: repo,
    env: at.env,
    onStart,
    onLine(line) {
      runId ??= /"run":"([^"]+)"/.exec(line)?.[1];
      onLine?.(line);
    },
  });
  const afterwards = (await settled(place.root)) / 1000;
  const shown = await must([process.execPath, GUARDLOOP, "show", runId, "--json"], {
    cwd: repo,
    env: at.env,
  });
  const record = JSON.parse(shown.stdout);
  if (record.run.state !== "ready") throw new Error(`The run ended ${record.run.state}.`);
  return {
    runId,
    record: record.record,
    total: ended.ms / 1000,
    cpu: cpuOf(ended),
    afterwards,
    stages: stagesOf(record.stages, ended),
  };
}

export function cpuOf({ stderr }) {
  const [, user, system] = /^bench-cpu (\S+) (\S+)$/m.exec(stderr) ?? [];
  return Number(user) + Number(system);
}

function stagesOf(stages, { startedAt, endedAt }) {
  const seconds = {};
  for (const one of stages) {
    const [from, to] = [Date.parse(one.startedAt), Date.parse(one.endedAt)];
    seconds[one.stage] = (seconds[one.stage] ?? 0) + (to - from) / 1000;
  }
  const first = Math.min(...stages.map((one) => Date.parse(one.startedAt)));
  const last = Math.max(...stages.map((one) => Date.parse(one.endedAt)));
  return { start: (first - startedAt) / 1000, ...seconds, end: (endedAt - last) / 1000 };
}

/** Takes the branch away, so that the next run finds the repository as this one did. */
export async function discard(at, repo, runId) {
  await must([process.execPath, GUARDLOOP, "discard", runId], { cwd: repo, env: at.env });
}

/** The same run once more, not for its time: what it starts, its memory, and the disk it takes while the agent works. */
export async function guardedWatched(place, options) {
  const { at } = options;
  const counts = join(place.root, "counts");
  // Of the case before.
  rmSync(counts, { force: true });
  const env = { ...at.env, NODE_OPTIONS: `--import=${HOOK}`, BENCH_COUNTS: counts };
  const before = diskKib(at.home);
  let during = 0;
  let tree;
  let looking;
  const { runId } = await guarded(place, {
    ...options,
    at: { ...at, env },
    onStart: (pid) => (tree = watchTree(pid)),
    onLine(line) {
      const [, id] = /"run":"([^"]+)".*"type":"stage-intent","stage":"agent"/.exec(line) ?? [];
      if (id === undefined) return;
      const log = join(at.state, "runs", id, "agent.log");
      looking = setInterval(() => {
        if (during > 0 || !existsSync(log) || !readFileSync(log, "utf8").includes("bench-pause"))
          return;
        during = diskKib(at.home);
      }, 100);
    },
  });
  clearInterval(looking);
  const treeKib = tree.end();
  const rows = readFileSync(counts, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  // The hook is in `guardloop show` as well, and in what works on behind the run: the first process to end is the run.
  const end = rows.findIndex((row) => "peakKib" in row);
  const programs = rows.slice(0, end).filter((row) => "argv" in row);
  return {
    runId,
    programs: programs.toSorted((left, right) => left.at - right.at),
    started: programs.length,
    engineCalls: programs.filter(({ argv }) => /\/(?:docker|podman)$/.test(argv[0])).length,
    gitCalls: programs.filter(({ argv }) => argv.some((word) => word.endsWith("/git"))).length,
    runnerKib: rows[end]?.peakKib ?? null,
    treeKib,
    diskDuringKib: during - before,
    diskAfterKib: diskKib(at.home),
  };
}
