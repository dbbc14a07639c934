import { NO_POLICY } from "../../core/findings.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { divergence } from "../../git/divergence.ts";
import type { Git } from "../../git/git.ts";
import { readRef } from "../../git/publish.ts";
import { applyPolicy, weightiestFirst } from "../../policy/apply-policy.ts";
import { type StaleBase, dynamicFindings } from "../../policy/dynamic-findings.ts";
import type { Finding } from "../../policy/finding.ts";
import type { RunPaths } from "../paths.ts";
import { readImportReport } from "../stages/import.ts";
import { readSpec } from "../stages/spec.ts";
import { findingsFor } from "./review-again.ts";
import type { ReviewServices } from "./secrets-in-use.ts";
import { validationStanding } from "./validation-standing.ts";

/**
 * The findings as of now: those of the run's record, and for a run that waits for a decision those that depend on the
 * moment, all with the run's own policy. The weightiest come first.
 */
export async function findingsNow(
  services: ReviewServices,
  run: RunRecord,
  paths: RunPaths,
): Promise<Result<readonly Finding[], Failure>> {
  const stored = await findingsFor(services, run, paths);
  if (!stored.ok || run.state !== "ready") return stored;
  const read = await readSpec(paths);
  const spec = read.ok ? read.value : undefined;
  const report = await readImportReport(paths);
  const stale = await staleBase(services.principal.git, run);
  if (!stale.ok) return stale;
  const dynamic = dynamicFindings({
    staleBase: stale.value,
    validation: validationStanding(run, spec, report?.tree),
  });
  const judged = applyPolicy(dynamic, spec?.policy ?? NO_POLICY);
  return ok(weightiestFirst([...stored.value, ...judged]));
}

/** In a stack the base is a branch that has not landed yet: what counts is whether the checkout's branch has more. */
async function staleBase(
  git: Git,
  run: RunRecord,
): Promise<Result<StaleBase | undefined, Failure>> {
  const tip = await readRef(git, `refs/heads/${run.onto}`);
  if (tip === undefined || run.head === null || tip === run.base || tip === run.head)
    return ok(undefined);
  const apart = await divergence(git, { tip, base: run.base, head: run.head });
  if (!apart.ok) return apart;
  const waits = run.parentRun !== null && apart.value.commits === 0;
  return ok(waits ? undefined : { branch: run.onto, ...apart.value });
}
