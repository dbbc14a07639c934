import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { Validation } from "../../core/run-spec.ts";
import {
  type CommitSummary,
  type MeasuredEntry,
  commitsBetween,
  measureChanges,
} from "../../git/change-facts.ts";
import { hasCommit } from "../../git/publish.ts";
import { diffText } from "../../git/show-diff.ts";
import type { ValidationStanding } from "../../policy/dynamic-findings.ts";
import type { Finding } from "../../policy/finding.ts";
import { type RunPaths, runPaths } from "../../run/paths.ts";
import { commitsGone } from "../../run/branches/gone.ts";
import { findingsNow } from "../../run/review/findings-now.ts";
import type { ReviewServices } from "../../run/review/secrets-in-use.ts";
import { validationStanding } from "../../run/review/validation-standing.ts";
import { readImportReport } from "../../run/stages/import.ts";
import { readSpec } from "../../run/stages/spec.ts";

/** Everything a review shows, computed by the host from the imported commits. */
export interface Material {
  readonly run: RunRecord & { readonly head: string };
  readonly title: string;
  readonly acceptance: readonly string[];
  readonly commits: readonly CommitSummary[];
  readonly changes: readonly MeasuredEntry[];
  readonly findings: readonly Finding[];
  readonly diff: string;
  /** The result of the project's own commands on the imported tree; that of another tree does not count here. */
  readonly result: Validation | null;
  /** What that says. */
  readonly validation: ValidationStanding["kind"];
}

export async function gatherMaterial(
  run: RunRecord,
  services: ReviewServices,
): Promise<Result<Material, Failure>> {
  const { head, base } = run;
  const { git } = services.principal;
  if (head === null)
    return fail("not-in-this-state", `Run ${run.id} is ${run.state} and has no branch to review.`, {
      cure: `Run \`guardloop show ${run.id}\`.`,
    });
  if (!(await hasCommit(git, head))) return commitsGone(run);
  const paths = runPaths(services.env.stateDir, run.id);
  const commits = await commitsBetween(git, base, head);
  if (!commits.ok) return commits;
  const changes = await measureChanges(git, base, head);
  if (!changes.ok) return changes;
  const findings = await findingsNow(services, run, paths);
  if (!findings.ok) return findings;
  const diff = await diffText(git, base, head);
  if (!diff.ok) return diff;
  return ok({
    run: { ...run, head },
    commits: commits.value,
    changes: changes.value,
    findings: findings.value,
    diff: diff.value,
    ...(await fromRecord(run, paths)),
  });
}

/** The task as the plan had it, and what the validation is worth; an unreadable record leaves them out. */
async function fromRecord(
  run: RunRecord,
  paths: RunPaths,
): Promise<Pick<Material, "title" | "acceptance" | "validation" | "result">> {
  const spec = await readSpec(paths);
  const task = spec.ok ? spec.value.offered.find((one) => one.id === run.task) : undefined;
  const report = await readImportReport(paths);
  const standing = validationStanding(run, spec.ok ? spec.value : undefined, report?.tree);
  return {
    title: task?.title ?? "",
    acceptance: task?.acceptance ?? [],
    validation: standing.kind,
    result: report === undefined ? null : (run.validations[report.tree] ?? null),
  };
}
