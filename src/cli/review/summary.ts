import { blocks } from "../../policy/finding.ts";
import { count } from "../output/count.ts";
import { duration } from "../output/duration.ts";
import type { Output } from "../output/output.ts";
import { stateText } from "../output/state.ts";
import { type Segment, bold, cyan, dim, green, red } from "../output/text.ts";
import { isOfValidation } from "../../run/decide/accepts.ts";
import { printValidation } from "../output/validation.ts";
import { printFiles } from "./files.ts";
import { findingCounts, printFindings } from "./findings.ts";
import type { Material } from "./material.ts";

/** What a person has to know before reading the diff: the task, what the run was, commits, files, findings. */
export function printSummary(output: Output, material: Material): void {
  const { run, title, acceptance, commits } = material;
  output.result(
    bold(`${run.task ?? ""} ${title}`),
    "  ",
    stateText(run.state),
    dim(`  run ${run.id}`),
  );
  for (const line of acceptance) output.result("  [ ] ", line);
  output.result("");
  printRun(output, material);
  output.result("");
  output.result(bold(count(commits.length, "commit")));
  for (const commit of commits)
    output.result(
      "  ",
      cyan(commit.commit.slice(0, 12)),
      ` ${commit.subject}`,
      dim(`  ${commit.authorName}`),
    );
  output.result("");
  printFiles(output, material.changes, "at-a-glance");
  output.result("");
  printFindings(output, material.findings);
}

function printRun(output: Output, material: Material): void {
  const { run, findings } = material;
  output.result("Agent       ", run.agent, `, network ${run.network}`, workedFor(material));
  output.result(
    "Branch      ",
    run.branch ?? "",
    dim(`  ${run.base.slice(0, 12)}..${run.head.slice(0, 12)}, for ${run.onto}`),
  );
  if (run.parentRun !== null) output.result("Builds on   ", `run ${run.parentRun}`);
  if (run.branchPruned !== null)
    output.result("Pruned      ", `the branch was removed on ${run.branchPruned.at.slice(0, 10)}`);
  const shown = material.validation === "passed" || material.validation === "failed";
  if (shown && material.result !== null) printValidation(output, material.result);
  else output.result("Validation  ", validationText(material.validation));
  output.result("Findings    ", ...findingCounts(findings));
}

function workedFor({ run }: Material): string {
  const { startedAt, endedAt } = run.stages.find(({ stage }) => stage === "agent") ?? {};
  if (startedAt === undefined || endedAt === undefined || endedAt === null) return "";
  return `, worked for ${duration(Date.parse(endedAt) - Date.parse(startedAt))}`;
}

function validationText(validation: Material["validation"]): Segment {
  if (validation === "passed") return green("passed");
  if (validation === "not-required") return dim("none: the project names no commands");
  return red(validation === "failed" ? "failed" : "missing: this tree has not been validated");
}

/** The same in one line, for the moment of the decision, when a pager may have cleared the screen. */
export function printRecap(output: Output, material: Material): void {
  const { run, title, commits, changes, findings } = material;
  output.result("");
  output.result(
    bold(`${run.task ?? ""} ${title}`),
    `  ${count(commits.length, "commit")}, ${count(changes.length, "file")}, findings: `,
    ...findingCounts(findings),
    `, validation: ${material.validation === "not-required" ? "none" : material.validation}`,
  );
}

/** What to type next. */
export function printNext(output: Output, { run, findings, validation }: Material): void {
  if (run.state !== "ready") return;
  const toAccept = blocks(findings).filter((one) => !isOfValidation(one.code));
  const accepts = [...new Set(toAccept.map((one) => ` --accept ${one.code}`))].join("");
  const rebase = findings.some((one) => one.code === "stale-base") ? " --rebase" : "";
  const without =
    validation === "failed" || validation === "missing" ? " --without-validation REASON" : "";
  output.result("Land it:  guardloop promote ", run.id, rebase, accepts, without);
  output.result("Drop it:  guardloop discard ", run.id);
}
