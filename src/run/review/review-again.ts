import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { Finding } from "../../policy/finding.ts";
import { endingOf } from "../container/ending.ts";
import { readOutbox } from "../artifacts/outbox.ts";
import type { RunPaths } from "../paths.ts";
import { check } from "../stages/collect.ts";
import { readImportReport } from "../stages/import.ts";
import { computeReview, judge, readFindings } from "../stages/review.ts";
import { readSpec } from "../stages/spec.ts";
import type { ReviewInput } from "./review-facts.ts";
import type { ReviewServices } from "./secrets-in-use.ts";

/** The findings of a run with a branch: from its record, or computed now where a crash or fault left them out. */
export async function findingsFor(
  services: ReviewServices,
  run: RunRecord,
  paths: RunPaths,
): Promise<Result<readonly Finding[], Failure>> {
  const known = await readFindings(paths);
  if (known !== undefined) return ok(known);
  const input = await reviewInputOf(run, paths);
  if (!input.ok) return input;
  const reviewed = await computeReview(services, paths, input.value);
  return reviewed.ok ? ok(reviewed.value.findings) : reviewed;
}

/**
 * The findings of a run's work where it was put on another commit: as if the run had begun there. Nothing of it is
 * kept.
 *
 * @param services its `objects` see the commits of the range.
 */
export async function findingsElsewhere(
  services: ReviewServices,
  at: { readonly run: RunRecord; readonly paths: RunPaths },
  range: { readonly base: string; readonly head: string; readonly tree: string },
): Promise<Result<readonly Finding[], Failure>> {
  const input = await reviewInputOf(at.run, at.paths);
  if (!input.ok) return input;
  const { spec, imported } = input.value;
  const judged = await judge(services, {
    ...input.value,
    spec: { ...spec, base: range.base },
    imported: { ...imported, head: range.head, tree: range.tree },
  });
  return judged.ok ? ok(judged.value.findings) : judged;
}

async function reviewInputOf(
  run: RunRecord,
  paths: RunPaths,
): Promise<Result<ReviewInput, Failure>> {
  const spec = await readSpec(paths);
  if (!spec.ok) return spec;
  const imported = await readImportReport(paths);
  const outbox = await readOutbox(paths.artifacts);
  const collected = outbox.ok ? check(outbox.value, spec.value) : outbox;
  if (!collected.ok) return collected;
  if (imported === undefined)
    return fail("not-in-this-state", `Run ${run.id} has no imported result.`);
  return ok({
    runId: run.id,
    spec: spec.value,
    collected: collected.value,
    imported,
    ending: endingOf(run),
  });
}
