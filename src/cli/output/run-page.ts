import { show as written } from "../../config/written.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import type { Finding } from "../../policy/finding.ts";
import type { RunFacts } from "../run-facts.ts";
import { duration, size } from "./duration.ts";
import { egressText } from "./egress.ts";
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
  if (facts.findings !== undefined)
    row("Findings", findingsText(facts.findings), dim(codesText(facts.findings)));
  for (const remark of facts.remarks) row("Note", remark);
  printDecision(row, run);
  printStages(output, run, now);
  printPeaks(row, facts);
  printMissingLog(row, facts);
  printDisk(row, facts);
  printEgress(row, facts);
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

function printSurroundings(row: Row, facts: RunFacts): void {
  const { run, spec, leasePath } = facts;
  const { attempt } = run;
  if (attempt !== null)
    row("Attempt", `${attempt.number} of ${attempt.of}; see them all: guardloop compare ${run.id}`);
  const version = run.agentVersion === null ? "" : ` (${run.agentVersion})`;
  row("Agent", run.agent, version, `, network ${run.network}`);
  const plan = spec?.plan.hash === undefined ? "" : `plan ${spec.plan.hash.slice(0, 12)}, `;
  row("Hashes", `${plan}run spec ${run.specHash.slice(0, 12)}`);
  if (spec === undefined) return;
  const agents = spec.image.labels?.["guardloop.image.agents"];
  row(
    "Image",
    `${spec.image.name} ${spec.image.id}`,
    dim(agents === undefined ? "" : `  agents ${agents}`),
  );
  row("Engine", engineText(spec.engine));
  printContainer(row, facts, spec);
  row("Lease", spec.lease, leasePath === null ? "" : `, ${leasePath}`);
  if (spec.snapshot !== undefined)
    row("Files", spec.snapshot.method, dim(`  ${spec.snapshot.why}`));
  printSnapshot(row, facts);
}

function printContainer(row: Row, { run, argv }: RunFacts, { container }: RunSpec): void {
  const { memoryBytes, cpus, pids, uid } = container;
  const limits = `memory ${size(memoryBytes)}, ${cpus} CPUs, ${pids} processes, uid ${uid}`;
  const call = `  whole call: guardloop show ${run.id} --argv`;
  row("Container", limits, dim(argv.length === 0 ? "  (none was started)" : call));
}

const SHOWN_RULES = 4;

function printSnapshot(row: Row, { snapshot }: RunFacts): void {
  if (snapshot === undefined) return;
  const { letIn, keptOut, rules } = snapshot;
  const named = (verdict: "in" | "out"): Segment => {
    const texts = rules
      .filter((one) => one.verdict === verdict)
      .map(({ rule, files }) => `${rule}: ${files}`);
    const more = texts.length > SHOWN_RULES ? ", …" : "";
    return dim(texts.length === 0 ? "" : ` (${texts.slice(0, SHOWN_RULES).join(", ")}${more})`);
  };
  const files = letIn === 1 ? "1 untracked file" : `${letIn} untracked files`;
  row("Snapshot", `${files} let in`, named("in"), `, ${keptOut} kept out`, named("out"));
}

function printDecision(row: Row, { promotion, rollback, discard, branchPruned }: RunRecord): void {
  if (promotion !== null) {
    row(
      "Promoted",
      `${promotion.before.slice(0, 12)} -> ${promotion.after.slice(0, 12)} by ${promotion.by}, ${promotion.how}`,
      promotion.why === "" ? "" : `: ${promotion.why}`,
    );
    if (promotion.accepted.length > 0)
      row("", `blocking findings accepted: ${promotion.accepted.join(", ")}`);
    if (promotion.withoutValidation !== null)
      row("", `without a passed validation: ${promotion.withoutValidation}`);
  }
  if (rollback !== null)
    row(
      "Rolled back",
      `${rollback.before.slice(0, 12)} -> ${rollback.after.slice(0, 12)} by ${rollback.by}, ${rollback.how}`,
      rollback.why === "" ? "" : `: ${rollback.why}`,
    );
  if (discard !== null)
    row(
      "Discarded",
      `${discard.at.slice(0, 10)} by ${discard.by}`,
      discard.why === "" ? "" : `: ${discard.why}`,
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

function printEgress(row: Row, { egress, spec, run }: RunFacts): void {
  if (egress === undefined) return;
  const to = spec?.gateway === undefined ? "" : ` to ${spec.gateway.upstream}`;
  row("Gateway", `${egressText(egress)}${to}`, dim(`  guardloop logs ${run.id} --egress`));
}

const SHOWN_CODES = 6;

function codesText(findings: readonly Finding[]): string {
  const codes = [...new Set(findings.map((one) => one.code))];
  if (codes.length === 0) return "";
  return `  ${codes.slice(0, SHOWN_CODES).join(", ")}${codes.length > SHOWN_CODES ? ", …" : ""}`;
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
