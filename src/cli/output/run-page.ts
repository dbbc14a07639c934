import { show as written } from "../../config/written.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { RunFacts } from "../run-facts.ts";
import { duration, size } from "./duration.ts";
import { engineText } from "./engine.ts";
import { namingRun } from "./failure.ts";
import { removedSentence } from "./record-removed.ts";
import type { Output } from "./output.ts";
import { findingsText } from "./series-table.ts";
import { stateText } from "./state.ts";
import { type Segment, bold, dim, green, red } from "./text.ts";
import { printValidation } from "./validation.ts";

/** Everything about a run, in the order in which a tired person asks for it. */
export function printRunPage(output: Output, facts: RunFacts, now: Date): void {
  const row = (label: string, ...segments: readonly Segment[]): void =>
    output.result(label.padEnd(12), ...segments);
  const { run } = facts;
  const { recordRemoved } = run;
  output.result(bold(`Run ${run.id}`), "  ", stateText(run.state));
  if (recordRemoved !== null) row("Record", removedSentence(recordRemoved));
  printFailure(row, run);
  nextSteps(run).forEach((line, index) => row(index === 0 ? "What to do" : "", line));
  printWork(row, facts);
  printSurroundings(row, facts);
  if (run.validation !== null) printValidation(output, run.validation);
  if (facts.findings !== undefined) row("Findings", findingsText(facts.findings));
  for (const remark of facts.remarks) row("Note", remark);
  printDecision(row, run);
  printStages(output, run, now);
  printPeaks(row, facts);
  printMissingLog(row, facts);
  printDisk(row, facts);
  printSettings(output, facts);
  if (recordRemoved !== null) return;
  printArtifacts(output, facts);
  output.result(dim(`${"Record".padEnd(12)}${facts.record}`));
}

type Row = (label: string, ...segments: readonly Segment[]) => void;

function printFailure(row: Row, { failure }: RunRecord): void {
  if (failure === null) return;
  row("Failure", bold(failure.message), dim(` [${failure.code} in ${failure.stage}]`));
  for (const line of failure.details) row("", line);
}

function nextSteps(run: RunRecord): readonly string[] {
  // Whatever else there is to do needs the record.
  if (run.recordRemoved !== null && run.state !== "promoted") return [];
  switch (run.state) {
    case "running":
      return [`Look on: guardloop watch ${run.id}`, `End it: guardloop stop ${run.id}`];
    case "ready":
      return [
        `Look at it: guardloop review ${run.id}`,
        `Then land it or drop it: guardloop promote ${run.id}, guardloop discard ${run.id}`,
      ];
    case "failed":
    case "interrupted":
      return [
        ...(run.failure === null ? [] : [namingRun(run.failure.cure, run.id)]),
        ...saved(run),
      ];
    case "promoted":
      return [`Take it back: guardloop rollback ${run.id}`];
    case "discarded":
    case "rolled-back":
      return [`Have it again: guardloop restore ${run.id}`];
  }
}

function saved(run: RunRecord): readonly string[] {
  if (run.salvagedPatches === 0 || run.failure?.cure.includes("guardloop salvage") === true)
    return [];
  return [`Make a branch of what was saved: guardloop salvage ${run.id} --task ID --message TEXT`];
}

function printWork(row: Row, { run, spec, commits }: RunFacts): void {
  const task = spec?.offered.find((one) => one.id === run.task);
  const offered = spec?.offered.map((one) => one.id).join(", ") ?? "";
  if (run.task === null) row("Task", `none chosen (offered: ${offered})`);
  else
    row(
      "Task",
      `${run.task} ${task?.title ?? ""}`,
      dim(task === undefined ? "" : `  ${task.file}:${task.line}`),
    );
  row("Repository", run.topLevel, `, onto ${run.onto}`);
  const parent = run.parentRun === null ? "" : `, the tip of run ${run.parentRun}`;
  row("Base", run.base.slice(0, 12), parent);
  printBranch(row, run, commits);
  printSaved(row, run);
}

function printBranch(row: Row, run: RunRecord, commits: number | undefined): void {
  if (run.branch === null) return;
  const tip = run.head === null ? "" : ` at ${run.head.slice(0, 12)}`;
  const count = commits === undefined ? "" : `, ${commits} ${commits === 1 ? "commit" : "commits"}`;
  row("Branch", run.branch, tip, count);
}

function printSaved(row: Row, run: RunRecord): void {
  if (run.salvagedPatches > 0 && run.failure !== null) {
    const count = run.salvagedPatches === 1 ? "1 patch" : `${run.salvagedPatches} patches`;
    row("Salvaged", `${count}, in the record's salvage directory`);
  }
  const kept = run.keptSnapshot;
  if (kept !== null)
    row(
      "Kept",
      `snapshot of ${size(kept.sizeBytes)} at ${kept.path}, until ${kept.until.slice(0, 10)}`,
    );
}

function printSurroundings(row: Row, { run, spec, leasePath }: RunFacts): void {
  const { attempt } = run;
  if (attempt !== null)
    row("Attempt", `${attempt.number} of ${attempt.of}; see them all: guardloop compare ${run.id}`);
  row("Agent", run.agent, `, network ${run.network}`);
  if (spec === undefined) return;
  const agents = spec.image.labels?.["guardloop.image.agents"];
  row(
    "Image",
    `${spec.image.name} ${spec.image.id}`,
    dim(agents === undefined ? "" : `  agents ${agents}`),
  );
  row("Engine", engineText(spec.engine));
  row("Lease", spec.lease, leasePath === null ? "" : `, ${leasePath}`);
}

function printDecision(row: Row, { promotion, rollback, branchPruned }: RunRecord): void {
  if (promotion !== null)
    row(
      "Promoted",
      `${promotion.before.slice(0, 12)} -> ${promotion.after.slice(0, 12)} by ${promotion.by}, ${promotion.how}`,
      promotion.why === "" ? "" : `: ${promotion.why}`,
    );
  if (rollback !== null)
    row(
      "Rolled back",
      `${rollback.before.slice(0, 12)} -> ${rollback.after.slice(0, 12)} by ${rollback.by}, ${rollback.how}`,
    );
  if (branchPruned !== null)
    row(
      "Pruned",
      `${branchPruned.at.slice(0, 10)} by ${branchPruned.by}, as ${branchPruned.because}; the branch was at ${branchPruned.head}`,
    );
}

function printStages(output: Output, run: RunRecord, now: Date): void {
  output.result("Stages");
  for (const timing of run.stages) {
    const end = timing.endedAt === null ? now.getTime() : Date.parse(timing.endedAt);
    const outcome =
      timing.outcome === "done"
        ? green("ok")
        : timing.outcome === "failed"
          ? red("failed")
          : timing.outcome;
    output.result(
      "  ",
      timing.stage.padEnd(10),
      duration(end - Date.parse(timing.startedAt)).padStart(12),
      "  ",
      outcome,
    );
  }
}

function printPeaks(row: Row, { peaks, spec }: RunFacts): void {
  if (peaks === undefined) return;
  const limit = spec === undefined ? "" : ` of ${size(spec.container.memoryBytes)}`;
  const memory = peaks.memoryBytes === 0 ? "" : `, memory ${size(peaks.memoryBytes)}${limit}`;
  const looks = `  in ${peaks.samples} ${peaks.samples === 1 ? "look" : "looks"}`;
  row("At most", `CPU ${peaks.cpuPercent.toFixed(0)} %${memory}`, dim(looks));
}

function printMissingLog(row: Row, { missingLog }: RunFacts): void {
  if (missingLog === undefined) return;
  const { cutBytes, lostBytes, problem } = missingLog;
  const lost =
    problem === null ? "came faster than the disk took them" : `could not be written (${problem})`;
  if (cutBytes > 0)
    row("Log", `${size(cutBytes)} were cut out of the middle, to stay within limits.log`);
  if (lostBytes > 0) row("Log", `${size(lostBytes)} ${lost}`);
}

function printDisk(row: Row, { disk, spec }: RunFacts): void {
  if (disk === undefined) return;
  const { diskBytes, files } = spec?.limits ?? {};
  const bytes = `${size(disk.bytes)}${diskBytes === undefined ? "" : ` of ${size(diskBytes)}`}`;
  const entries = `${disk.entries} files${files === undefined ? "" : ` of ${files}`}`;
  row("Disk", `${bytes} and ${entries} more than at the start`);
}

/** What somebody set; the rest are the defaults of docs/configuration.md. */
function printSettings(output: Output, { spec }: RunFacts): void {
  const set = spec?.settings?.filter((one) => one.origin !== "default") ?? [];
  if (set.length === 0) return;
  output.result("Settings");
  for (const { key, value, origin, where } of set)
    output.result("  ", key, " = ", written(value), dim(`  ${origin}, ${where ?? ""}`));
}

function printArtifacts(output: Output, { artifacts }: RunFacts): void {
  output.result("Artifacts", artifacts.length === 0 ? "   none" : "");
  for (const { name, sizeBytes } of artifacts)
    output.result("  ", name, dim(`  ${size(sizeBytes)}`));
}
