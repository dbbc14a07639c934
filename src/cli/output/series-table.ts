import type { RunRecord } from "../../core/run-record.ts";
import type { Git } from "../../git/git.ts";
import { changedEntries } from "../../git/tree-check.ts";
import type { Finding, Severity } from "../../policy/finding.ts";
import { runPaths } from "../../run/paths.ts";
import { readImportReport } from "../../run/stages/import.ts";
import { readFindings } from "../../run/stages/review.ts";
import { duration } from "./duration.ts";
import { stateText } from "./state.ts";
import { type Segment, bold, dim, red, yellow } from "./text.ts";

/** The weightiest first. */
const SEVERITIES: readonly Severity[] = ["block", "warn", "info"];
const HEAD = ["RUN", "TASK", "STATE", "COMMITS", "FILES", "FINDINGS", "VALIDATION", "TIME"];

/** The runs of a series as they ended, a row each. */
export async function seriesTable(
  runs: readonly RunRecord[],
  at: { readonly git: Git; readonly stateDir: string },
): Promise<readonly (readonly Segment[])[]> {
  const rows = await Promise.all(runs.map((run) => rowOf(run, at)));
  return [HEAD.map((title) => dim(title)), ...rows];
}

async function rowOf(
  run: RunRecord,
  at: { readonly git: Git; readonly stateDir: string },
): Promise<readonly Segment[]> {
  const ended = run.endedAt === null ? undefined : Date.parse(run.endedAt);
  return [
    bold(run.id),
    run.task ?? assigned(run) ?? "-",
    run.failure === null ? stateText(run.state) : red(run.failure.code),
    ...(run.head === null ? ["-", "-", "-"] : await resultCells(run, run.head, at)),
    run.validation?.verdict ?? "-",
    ended === undefined ? "-" : duration(ended - Date.parse(run.startedAt)),
  ];
}

/** The task that the host gave to a run which ended before it could say so itself. */
function assigned({ claims }: RunRecord): string | undefined {
  return claims.length === 1 ? claims[0] : undefined;
}

/** Commits, files and findings of what was imported. */
async function resultCells(
  run: RunRecord,
  head: string,
  at: { readonly git: Git; readonly stateDir: string },
): Promise<readonly Segment[]> {
  const paths = runPaths(at.stateDir, run.id);
  const imported = await readImportReport(paths);
  const changed = await changedEntries(at.git, run.base, head);
  return [
    imported === undefined ? "-" : String(imported.commits),
    changed.ok ? String(changed.value.length) : "-",
    findingsText((await readFindings(paths)) ?? []),
  ];
}

/** `1 block, 2 warn`, the weightiest first. */
export function findingsText(findings: readonly Finding[]): Segment {
  const counts = SEVERITIES.map(
    (severity) => [severity, findings.filter((one) => one.severity === severity).length] as const,
  ).filter(([, count]) => count > 0);
  const text = counts.map(([severity, count]) => `${count} ${severity}`).join(", ");
  const [worst] = counts;
  if (worst?.[0] === "block") return red(text);
  return worst?.[0] === "warn" ? yellow(text) : text === "" ? "none" : text;
}
