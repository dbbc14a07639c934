import type { RunRecord } from "../../core/run-record.ts";
import type { ResourcePeaks } from "../../core/run-spec.ts";
import { type MeasuredEntry, measureChanges } from "../../git/change-facts.ts";
import type { Git } from "../../git/git.ts";
import { hasCommit } from "../../git/publish.ts";
import type { ValidationStanding } from "../../policy/dynamic-findings.ts";
import type { Finding } from "../../policy/finding.ts";
import { endingOf } from "../container/ending.ts";
import { runPaths } from "../paths.ts";
import { validationStanding } from "../review/validation-standing.ts";
import { readImportReport } from "../stages/import.ts";
import { readFindings } from "../stages/review.ts";
import { readSpec } from "../stages/spec.ts";
import type { Tokens } from "../watching/activity.ts";
import { eventTail } from "../watching/event-tail.ts";

/** What can be said of a run in numbers, as far as it came. */
export interface MeasuredRun {
  readonly run: RunRecord;
  /** Of exactly the imported tree. */
  readonly validation: ValidationStanding["kind"];
  /** Null when nothing was imported, or its commits are gone. */
  readonly change: ChangeSize | null;
  /** Null when there was no review. */
  readonly findings: readonly Finding[] | null;
  /** From the start to the end of the run; null while it is running. */
  readonly elapsedMs: number | null;
  /** Null where the agent does not tell them. */
  readonly tokens: Tokens | null;
  readonly costUsd: number | null;
  readonly peaks: ResourcePeaks | null;
}

export interface ChangeSize {
  readonly files: number;
  readonly addedLines: number;
  readonly deletedLines: number;
}

/** Gathers it from the record, the agent's own events and the imported commits. Changes nothing. */
export async function measureRun(
  run: RunRecord,
  at: { readonly git: Git; readonly stateDir: string },
): Promise<MeasuredRun> {
  const paths = runPaths(at.stateDir, run.id);
  const spec = await readSpec(paths);
  const report = await readImportReport(paths);
  const ended = run.endedAt === null ? null : Date.parse(run.endedAt);
  return {
    run,
    validation: validationStanding(run, spec.ok ? spec.value : undefined, report?.tree).kind,
    change: await changeOf(run, at.git),
    findings: (await readFindings(paths)) ?? null,
    elapsedMs: ended === null ? null : Math.max(0, ended - Date.parse(run.startedAt)),
    ...(await usageOf(paths.agentEvents)),
    peaks: endingOf(run).peaks ?? null,
  };
}

async function changeOf({ base, head }: RunRecord, git: Git): Promise<ChangeSize | null> {
  if (head === null || !(await hasCommit(git, head))) return null;
  const measured = await measureChanges(git, base, head);
  if (!measured.ok) return null;
  const sum = (count: (one: MeasuredEntry) => number): number =>
    measured.value.reduce((total, one) => total + count(one), 0);
  return {
    files: measured.value.length,
    addedLines: sum((one) => one.addedLines),
    deletedLines: sum((one) => one.deletedLines),
  };
}

/** What the agent itself tells of its use of the model: its word, which nobody checks. */
async function usageOf(eventsPath: string): Promise<Pick<MeasuredRun, "tokens" | "costUsd">> {
  let tokens: Tokens | null = null;
  let costUsd: number | null = null;
  for (const event of await eventTail(eventsPath).more()) {
    if (event.type !== "usage") continue;
    const before: Tokens = tokens ?? { input: 0, cachedInput: 0, output: 0 };
    tokens = {
      input: before.input + event.inputTokens,
      cachedInput: before.cachedInput + event.cachedInputTokens,
      output: before.output + event.outputTokens,
    };
    if (event.costUsd !== null) costUsd = (costUsd ?? 0) + event.costUsd;
  }
  return { tokens, costUsd };
}
