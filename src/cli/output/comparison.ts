import type { RunSummary } from "../../core/run-record.ts";
import { taskOf } from "../../run/choice/track-record.ts";
import type { MeasuredRun } from "../../run/compare/measure-run.ts";
import { count } from "./count.ts";
import { duration, size } from "./duration.ts";
import { tokenText } from "./run-view.ts";
import { findingsText } from "./series-table.ts";
import { stateText } from "./state.ts";
import { type Segment, bold, dim, green, red, yellow } from "./text.ts";

type Line = readonly Segment[];

/** A column a run, a row a fact; rows that no run has anything to say about are left out. */
export function comparisonTable(measured: readonly MeasuredRun[]): readonly Line[] {
  const row = (title: string, cell: (one: MeasuredRun) => Segment): Line => [
    dim(title),
    ...measured.map((one) => cell(one)),
  ];
  const rowIfTold = (title: string, cell: (one: MeasuredRun) => Segment | null): readonly Line[] =>
    measured.some((one) => cell(one) !== null) ? [row(title, (one) => cell(one) ?? "-")] : [];
  return [
    row("RUN", ({ run }) => bold(run.id)),
    ...rowIfTold("ATTEMPT", ({ run: { attempt } }) =>
      attempt === null ? null : `${attempt.number} of ${attempt.of}`,
    ),
    row("TASK", ({ run }) => taskOf(run) ?? "-"),
    row("AGENT", ({ run }) => run.agent),
    row("STATE", ({ run }) => stateText(run.state)),
    ...rowIfTold("FAILURE", ({ run }) => (run.failure === null ? null : red(run.failure.code))),
    row("VALIDATION", validationText),
    row("CHANGE", changeText),
    row("FINDINGS", ({ findings }) => (findings === null ? "-" : findingsText(findings))),
    row("TIME", ({ elapsedMs }) => (elapsedMs === null ? "-" : duration(elapsedMs))),
    ...rowIfTold("TOKENS", ({ tokens }) => (tokens === null ? null : tokenText(tokens))),
    ...rowIfTold("COST", ({ costUsd }) => (costUsd === null ? null : `$${costUsd.toFixed(2)}`)),
    ...rowIfTold("MEMORY", ({ peaks }) =>
      peaks === null || peaks.memoryBytes === 0 ? null : `up to ${size(peaks.memoryBytes)}`,
    ),
    ...rowIfTold("CPU", ({ peaks }) =>
      peaks === null ? null : `up to ${peaks.cpuPercent.toFixed(0)} %`,
    ),
  ];
}

function validationText({ validation, run }: MeasuredRun): Segment {
  switch (validation) {
    case "passed":
      return green("passed");
    case "failed":
      return red("failed");
    case "missing":
      return run.head === null ? "-" : yellow("missing");
    case "not-required":
      return "none asked for";
  }
}

function changeText({ change }: MeasuredRun): Segment {
  if (change === null) return "-";
  return `${count(change.files, "file")} +${change.addedLines} -${change.deletedLines}`;
}

/** What to type next: look at one, land one, and what then becomes of the others. */
export function nextLines(runs: readonly RunSummary[]): readonly Line[] {
  const ready = runs.filter((run) => run.state === "ready");
  const landed = runs.find((run) => run.state === "promoted");
  const [first] = ready;
  if (first === undefined) return [["None of them waits for a decision."]];
  if (landed !== undefined) return stillReady(landed, ready);
  return [
    ["Look at one:  guardloop review ", first.id],
    ["Land one:     guardloop promote ", first.id],
    ...(ready.length > 1
      ? [["The others stay ready until you discard them: guardloop discard RUN"]]
      : []),
  ];
}

/** The attempts that a promoted one leaves behind, and how to be rid of them. */
export function stillReady(landed: RunSummary, ready: readonly RunSummary[]): readonly Line[] {
  if (ready.length === 0) return [];
  const what = ready.length === 1 ? "One more attempt is" : `${ready.length} more attempts are`;
  return [
    [`Run ${landed.id} was promoted. ${what} still ready; discard what you do not want:`],
    ...ready.map((run): Line => ["  guardloop discard ", run.id]),
  ];
}
