import type { Command } from "commander";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import {
  type CommitSummary,
  type MeasuredEntry,
  commitsBetween,
  measureChanges,
} from "../../git/change-facts.ts";
import { diffText } from "../../git/show-diff.ts";
import type { Principal } from "../../git/principal.ts";
import type { Finding } from "../../policy/finding.ts";
import { blocks } from "../../policy/finding.ts";
import { isOfValidation } from "../../run/decide/accepts.ts";
import { runPaths } from "../../run/paths.ts";
import { findingsNow } from "../../run/review/findings-now.ts";
import { readSpec } from "../../run/stages/spec.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import type { Output } from "../output/output.ts";
import { printValidation } from "../output/validation.ts";
import { stateText } from "../output/state.ts";
import { bold, cyan, dim, green, red, yellow } from "../output/text.ts";
import { withRun } from "../with-run.ts";

export function reviewCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "review",
    summary: "show what a run would land: task, commits, files, findings, diff",
    description:
      "Everything shown is computed from the imported commits, not from what the container said. Control and bidi characters are visible, and attributes in the branch cannot hide a diff.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop review @last",
      "guardloop review @last --stat",
      "guardloop review @last --diff | less",
    ],
  })
    .argument("<run>", "id, unique prefix, or @last")
    .option("--stat", "without the diff")
    .option("--diff", "the diff alone")
    .option("--findings", "the findings alone");
  return action(command, { context, finish }, perform);
}

interface Material {
  readonly run: RunRecord;
  readonly title: string;
  readonly acceptance: readonly string[];
  readonly commits: readonly CommitSummary[];
  readonly changes: readonly MeasuredEntry[];
  readonly findings: readonly Finding[];
  readonly diff: string;
}

async function perform(call: Call): Promise<CommandEnd> {
  return withRun(call, async ({ run, principal }) => {
    if (!principal.ok) return principal;
    const material = await gather(call, run, principal.value);
    if (!material.ok) return material;
    if (call.format === "json") printJson(call.context.output, material.value);
    else print(call, material.value);
    return ok(EXIT.done);
  });
}

async function gather(
  call: Call,
  run: RunRecord,
  principal: Principal,
): Promise<Result<Material, Failure>> {
  const { head, base } = run;
  const { git } = principal;
  if (head === null)
    return fail("not-in-this-state", `Run ${run.id} is ${run.state} and has no branch to review.`, {
      cure: `Run \`guardloop show ${run.id}\`.`,
    });
  const paths = runPaths(call.context.env.stateDir, run.id);
  const commits = await commitsBetween(git, base, head);
  if (!commits.ok) return commits;
  const changes = await measureChanges(git, base, head);
  if (!changes.ok) return changes;
  const findings = await findingsNow({ env: call.context.env, principal }, run, paths);
  if (!findings.ok) return findings;
  const diff = await diffText(git, base, head);
  if (!diff.ok) return diff;
  const spec = await readSpec(paths);
  const task = spec.ok ? spec.value.offered.find((one) => one.id === run.task) : undefined;
  return ok({
    run,
    title: task?.title ?? "",
    acceptance: task?.acceptance ?? [],
    commits: commits.value,
    changes: changes.value,
    findings: findings.value,
    diff: diff.value,
  });
}

function printJson(output: Output, material: Material): void {
  const { run, title, acceptance, commits, changes, findings, diff } = material;
  const { id, state, task, branch, base, head } = run;
  output.json({
    version: 1,
    run: { id, state, task, branch, base, head },
    task: { id: task, title, acceptance },
    commits,
    files: changes.map(
      ({
        path,
        status,
        oldMode,
        newMode,
        addedLines,
        deletedLines,
        content,
        sizeBytes,
        linkTarget,
      }) => ({
        path,
        status,
        oldMode,
        newMode,
        addedLines,
        deletedLines,
        content,
        sizeBytes,
        linkTarget,
      }),
    ),
    validation: run.validation,
    findings,
    diff,
  });
}

function print(call: Call, material: Material): void {
  const { output } = call.context;
  if (call.options.diff === true) return printDiff(output, material.diff);
  if (call.options.findings === true) return printFindings(output, material.findings);
  printSummary(output, material);
  if (material.run.validation !== null) {
    output.result("");
    printValidation(output, material.run.validation);
  }
  printFindings(output, material.findings);
  if (call.options.stat !== true) {
    output.result("");
    printDiff(output, material.diff);
  }
  printNext(output, material);
}

function printSummary(
  output: Output,
  { run, title, acceptance, commits, changes }: Material,
): void {
  output.result(
    bold(`${run.task ?? ""} ${title}`),
    "  ",
    stateText(run.state),
    dim(`  run ${run.id}`),
  );
  for (const line of acceptance) output.result("  [ ] ", line);
  output.result(
    "Branch   ",
    run.branch ?? "",
    dim(`  ${run.base.slice(0, 12)}..${run.head?.slice(0, 12) ?? ""}`),
  );
  output.result("");
  output.result(bold(`${commits.length} ${commits.length === 1 ? "commit" : "commits"}`));
  for (const commit of commits)
    output.result(
      "  ",
      cyan(commit.commit.slice(0, 12)),
      ` ${commit.subject}`,
      dim(`  ${commit.authorName}`),
    );
  output.result("");
  output.result(bold(`${changes.length} ${changes.length === 1 ? "file" : "files"}`));
  for (const change of changes)
    output.result("  ", change.status, " ", change.path, "  ", ...counts(change));
}

function counts(change: MeasuredEntry) {
  if (change.content === "binary") return [yellow(`binary, ${change.sizeBytes} bytes`)];
  const link = change.linkTarget === null ? "" : ` -> ${change.linkTarget}`;
  return [green(`+${change.addedLines}`), " ", red(`-${change.deletedLines}`), link];
}

function printFindings(output: Output, findings: readonly Finding[]): void {
  output.result("");
  output.result(
    bold(
      findings.length === 0
        ? "No findings"
        : `${findings.length} ${findings.length === 1 ? "finding" : "findings"}`,
    ),
  );
  const paint = { block: red, warn: yellow, info: dim } as const;
  for (const one of findings) {
    output.result(
      "  ",
      paint[one.severity](one.severity.padEnd(5)),
      " ",
      bold(one.code),
      `  ${one.why}`,
      dim(one.policy === null ? "" : ` (${one.policy} by policy)`),
    );
    for (const path of one.paths) output.result("          ", path);
    if (one.morePaths > 0) output.result("          ", `… and ${one.morePaths} more`);
  }
}

/** A carriage return would let a line overwrite itself; it is shown like every other control character. */
function printDiff(output: Output, diff: string): void {
  for (const line of diff.split("\n")) {
    if (line.startsWith("+") && !line.startsWith("+++ ")) output.result(green(line));
    else if (line.startsWith("-") && !line.startsWith("--- ")) output.result(red(line));
    else if (line.startsWith("@@")) output.result(cyan(line));
    else output.result(line);
  }
}

/** How a blocking finding is passed over; a validation has a flag of its own. */
function passOver(code: Finding["code"]): string {
  return isOfValidation(code) ? " --without-validation REASON" : ` --accept ${code}`;
}

function printNext(output: Output, { run, findings }: Material): void {
  if (run.state !== "ready") return;
  const accepts = [...new Set(blocks(findings).map((one) => passOver(one.code)))].join("");
  output.result("");
  output.result("Land it:  guardloop promote ", run.id, accepts);
  output.result("Drop it:  guardloop discard ", run.id);
}
