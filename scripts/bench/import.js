// The import of a long series against `git am` of the same patches in a working tree. The import stage is driven alone:
// what is measured is the host's work, and not that of the container which wrote the patches.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { median, rounded } from "./median.js";
import { ROOT, git, must } from "./place.js";
import { makeRepository, usualCommits } from "./repository.js";

/** As the guest writes its patches; see docs/artifacts.md. */
const FORMAT =
  "format-patch --quiet -k --always --binary --full-index --no-renames --no-stat --no-signature --zero-commit".split(
    " ",
  );
const WHO = "Ada <ada@example.invalid> 1700000000 +0000";
const AUTHOR = { name: "Ada", email: "ada@example.invalid", date: "1700000000 +0000" };

/** @param {{ series: number, files: number, repetitions: number, say: (text: string) => void }} options */
export async function importing(place, { series, files, repetitions, say }) {
  const repo = join(place.root, "import");
  await makeRepository(place, { path: repo, files, commits: usualCommits(files) });
  const prepared = await prepare(place, repo, series);
  const times = { guarded: [], am: [] };
  // The first of each warms up.
  for (let turn = 0; turn <= repetitions; turn += 1) {
    const guarded = await imported(prepared, series);
    const am = await applied(place, repo, prepared.patches);
    say(`import of ${series}: ${guarded.toFixed(2)} s, git am ${am.toFixed(2)} s`);
    if (turn === 0) continue;
    times.guarded.push(guarded);
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

/** Patches and manifest as a container leaves them, and what the stage needs besides. */
async function prepare(place, repo, series) {
  const { hostEnvironment } = await import(join(ROOT, "dist/config/environment.js"));
  const { openPrincipal } = await import(join(ROOT, "dist/git/principal.js"));
  const { runPaths } = await import(join(ROOT, "dist/run/paths.js"));
  const runId = "260101-000000-aaaaa";
  const paths = runPaths(join(place.root, "state/guardloop"), runId);
  const patches = join(paths.artifacts, "patches");
  mkdirSync(patches, { recursive: true });
  const base = git(place, repo, ["rev-parse", "HEAD"]).trim();
  const input = Buffer.from(seriesOf(base, series));
  git(place, repo, ["fast-import", "--quiet"], { input });
  git(place, repo, [...FORMAT, `--output-directory=${patches}`, `${base}..refs/bench/series`]);
  const entries = entriesOf(place, repo, { base, patches });
  git(place, repo, ["update-ref", "-d", "refs/bench/series"]);
  const gitProgram = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const env = { ...hostEnvironment(), home: place.env.HOME };
  const principal = await openPrincipal(gitProgram, env, repo);
  if (!principal.ok) throw new Error(principal.error.message);
  return {
    patches,
    services: { gitProgram, env, principal: principal.value, paths },
    input: {
      runId,
      spec: { base, startedAt: "2026-01-01T00:00:00.000Z", agent: { author: AUTHOR } },
      collected: { taskId: "T1", message: "Say hello", manifest: manifestOf(base, entries) },
    },
  };
}

/** Small commits, for git-fast-import(1). */
function seriesOf(base, series) {
  const texts = Array.from({ length: 20 }, () => "");
  const commits = Array.from({ length: series }, (_, index) => {
    const at = index % texts.length;
    texts[at] += `line ${index}\n`;
    const message = `Change ${index}\n\nThe body of change ${index}.\n`;
    const from = index === 0 ? `from ${base}\n` : "";
    const data = `${message.length}\n${message}\n${from}`;
    const file = `M 100644 inline work/file-${at}.txt\ndata ${texts[at].length}\n${texts[at]}\n`;
    return `commit refs/bench/series\nauthor ${WHO}\ncommitter ${WHO}\ndata ${data}${file}\n`;
  });
  return commits.join("");
}

function entriesOf(place, repo, { base, patches }) {
  const format = "--format=%H %T";
  const range = `${base}..refs/bench/series`;
  const rows = git(place, repo, ["log", "--reverse", format, range]).trim().split("\n");
  const names = execFileSync("ls", [patches], { encoding: "utf8", env: place.env }).trim();
  return names.split("\n").map((file, index) => {
    const [commit, tree] = rows[index].split(" ");
    const message = `Change ${index}\n\nThe body of change ${index}.\n`;
    return { file, commit, tree, author: AUTHOR, message };
  });
}

function manifestOf(base, entries) {
  return {
    version: 1,
    base,
    patches: entries,
    finalTree: entries.at(-1).tree,
    history: { kind: "linear" },
    committedLeftovers: false,
    ignoredLeftBehind: { total: 0, names: [] },
    agent: { outcome: "exited", exitCode: 0, signal: null },
    limitsHit: {},
    versions: {},
  };
}

async function imported({ services, input }, series) {
  const { importStage } = await import(join(ROOT, "dist/run/stages/import.js"));
  const from = performance.now();
  const done = await importStage.perform(services, input);
  const seconds = (performance.now() - from) / 1000;
  if (!done.ok) throw new Error(`${done.error.message} ${done.error.details.join("\n")}`);
  const { commits } = done.value.imported;
  if (commits !== series) throw new Error(`${commits} commits were imported instead of ${series}.`);
  await importStage.undo(services, input);
  return seconds;
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
