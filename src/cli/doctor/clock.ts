import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { RunSummary } from "../../core/run-record.ts";
import { gitText } from "../../git/git.ts";
import type { Principal } from "../../git/principal.ts";
import { duration } from "../output/duration.ts";
import { type Check, warning } from "./check.ts";

/** Clocks of machines that keep them right are not further apart than this. */
const TOLERANCE_MS = 10 * 60_000;

/**
 * A clock that is far behind what was written already: ids of new runs would sort before those of old ones, and what
 * is old would count as new.
 */
export async function clockChecks(
  now: Date,
  principal: Principal | undefined,
  runs: readonly RunSummary[],
): Promise<readonly Check[]> {
  const seen = [...newestOf(runs), ...(principal === undefined ? [] : await timesOf(principal))];
  const [latest] = seen.toSorted((a, b) => b.ms - a.ms);
  if (latest === undefined || latest.ms <= now.getTime() + TOLERANCE_MS) return [];
  return [
    warning(
      "clock",
      `The clock of this machine is behind: it says ${iso(now.getTime())}, and ${latest.what} is of ${iso(latest.ms)}, ${duration(latest.ms - now.getTime())} later.`,
      "Set the clock (for example `timedatectl set-ntp true`) before the next run.",
    ),
  ];
}

interface Seen {
  readonly what: string;
  readonly ms: number;
}

function newestOf(runs: readonly RunSummary[]): readonly Seen[] {
  return runs.flatMap(({ id, startedAt, endedAt, decidedAt }) => {
    const times = [startedAt, endedAt, decidedAt].map((time) => Date.parse(time ?? ""));
    const ms = Math.max(...times.filter((time) => !Number.isNaN(time)));
    return Number.isFinite(ms) ? [{ what: `the newest event of run ${id}`, ms }] : [];
  });
}

/** Of the last commit, and of the files that Git wrote last. */
async function timesOf({ git, gitDir, topLevel }: Principal): Promise<readonly Seen[]> {
  const commit = await gitText(git, ["log", "-1", "--format=%ct", "HEAD"]);
  const seconds = commit.ok ? Number(commit.value) : Number.NaN;
  const files = await Promise.all(
    ["HEAD", "index"].map(async (name) => {
      const path = join(gitDir, name);
      return { what: `the file ${path}`, ms: (await stat(path).catch(() => undefined))?.mtimeMs };
    }),
  );
  return [
    { what: `the last commit of ${topLevel}`, ms: seconds * 1000 },
    ...files.flatMap(({ what, ms }) => (ms === undefined ? [] : [{ what, ms }])),
  ].filter(({ ms }) => Number.isFinite(ms));
}

function iso(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}
