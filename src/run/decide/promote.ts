import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunState } from "../../core/run-state.ts";
import { fastForward } from "../../git/land.ts";
import { refuseDirty, refuseOperationUnderWay } from "../../git/preconditions.ts";
import { readHead } from "../../git/principal.ts";
import { readRef } from "../../git/publish.ts";
import { type Finding, blocks } from "../../policy/finding.ts";
import { findingsNow } from "../review/findings-now.ts";
import { isOfValidation, refuseUnknownAccepts } from "./accepts.ts";
import { runPaths } from "../paths.ts";
import { readImportReport } from "../stages/import.ts";
import { readFindings } from "../stages/review.ts";
import { readSpec } from "../stages/spec.ts";
import {
  type Decision,
  type DecisionServices,
  type PublishedRun,
  checkState,
  recordDecision,
} from "./decision.ts";
import { withRepositoryLock } from "./repository-lock.ts";

export interface PromoteRequest extends Decision {
  /** Blocking findings that the person accepts, as `code` or `code:path`. */
  readonly accepted: readonly string[];
  readonly mode: "for-real" | "dry-run";
  /** Why a failed or missing validation is passed over; undefined when it is not. */
  readonly withoutValidation: string | undefined;
}

export interface Promotion {
  readonly before: string;
  readonly after: string;
  readonly branch: string;
}

/**
 * Lands a run's branch on the principal checkout: clean, on the branch the run was made for, by fast-forward.
 * Everything is checked again under the repository's lock; on any refusal nothing has changed.
 */
export async function promote(
  services: DecisionServices,
  request: PromoteRequest,
): Promise<Result<Promotion, Failure>> {
  return withRepositoryLock(services.env, services.principal.repositoryId, async () => {
    const checked = await checkPromotion(services, request);
    if (!checked.ok || request.mode === "dry-run") return checked;
    const landed = await fastForward(services.principal, {
      to: checked.value.after,
      branch: checked.value.branch,
    });
    if (!landed.ok) return landed;
    const { before, after } = checked.value;
    recordDecision(services, request.run, {
      type: "run-promoted",
      how: "fast-forward",
      before,
      after,
      by: request.by,
      why: request.why,
      accepted: request.accepted,
      withoutValidation: request.withoutValidation ?? null,
    });
    return checked;
  });
}

async function checkPromotion(
  services: DecisionServices,
  request: PromoteRequest,
): Promise<Result<Promotion, Failure>> {
  const run = checkState(services, request.run, "promoted");
  if (!run.ok) return run;
  const findings = await checkFindings(services, request);
  if (!findings.ok) return findings;
  const validated = await checkValidation(services, request);
  if (!validated.ok) return validated;
  const parent = checkParent(services, run.value);
  if (!parent.ok) return parent;
  const branch = await checkBranch(services, run.value);
  if (!branch.ok) return branch;
  return checkCheckout(services, run.value);
}

async function checkFindings(
  services: DecisionServices,
  request: PromoteRequest,
): Promise<Result<void, Failure>> {
  const paths = runPaths(services.env.stateDir, request.run.id);
  if ((await readFindings(paths)) === undefined)
    return fail(
      "promote-refused",
      `Run ${request.run.id} has no review, so it is not known what it would land.`,
      {
        cure: `Run \`guardloop review ${request.run.id}\` first.`,
      },
    );
  const findings = await findingsNow(services, request.run, paths);
  if (!findings.ok) return findings;
  const known = refuseUnknownAccepts(request, findings.value);
  if (!known.ok) return known;
  const open = blocks(findings.value)
    .filter((one) => !isOfValidation(one.code))
    .filter((one) => !isAccepted(one, request.accepted));
  if (open.length === 0) return ok(undefined);
  const accepts = open.map((one) => `--accept ${one.code}`).join(" ");
  return fail(
    "promote-refused",
    `Run ${request.run.id} has ${open.length} blocking ${open.length === 1 ? "finding" : "findings"} that nobody accepted.`,
    {
      details: open.flatMap((one) => [
        `${one.code}: ${one.why}`,
        ...one.paths.map((path) => `  ${path}`),
      ]),
      cure: `Look at them with \`guardloop review ${request.run.id}\`, then pass ${accepts} to promote all the same.`,
    },
  );
}

/** Where the project names validation commands, exactly the tree that would land must have passed them. */
async function checkValidation(
  services: DecisionServices,
  { run, withoutValidation }: PromoteRequest,
): Promise<Result<void, Failure>> {
  if (withoutValidation !== undefined) return ok(undefined);
  const paths = runPaths(services.env.stateDir, run.id);
  const spec = await readSpec(paths);
  const report = await readImportReport(paths);
  const required = spec.ok && spec.value.validate.length > 0;
  const counts = run.validation !== null && run.validation.tree === report?.tree;
  if (!required && !counts) return ok(undefined);
  if (counts && run.validation.verdict === "passed") return ok(undefined);
  const results = counts ? run.validation.results : [];
  return fail(
    "promote-refused",
    counts ? `The validation of run ${run.id} failed.` : `Run ${run.id} has not been validated.`,
    {
      details: results.map((one) => `${one.name}: ${one.outcome}`),
      cure: `Run \`guardloop validate ${run.id}\` again, or pass --without-validation REASON.`,
    },
  );
}

/** A finding is accepted by its code, or by its code and path for each of its paths. */
function isAccepted(one: Finding, accepted: readonly string[]): boolean {
  if (accepted.includes(one.code)) return true;
  return (
    one.paths.length > 0 &&
    one.morePaths === 0 &&
    one.paths.every((path) => accepted.includes(`${one.code}:${path}`))
  );
}

function checkParent(services: DecisionServices, run: PublishedRun): Result<void, Failure> {
  if (run.parentRun === null) return ok(undefined);
  const parent = services.history.run(run.parentRun);
  if (parent?.state === "promoted") return ok(undefined);
  return fail(
    "promote-refused",
    `Run ${run.id} builds on run ${run.parentRun}, which is ${parent?.state ?? "unknown"}.`,
    {
      cure: cureOfParent(run.parentRun, parent?.state),
    },
  );
}

function cureOfParent(parent: string, state: RunState | undefined): string {
  const restored = state === "discarded" || state === "rolled-back";
  return restored
    ? `Run \`guardloop restore ${parent}\` and promote it first.`
    : `Promote ${parent} first, or pass --with-parents.`;
}

async function checkBranch(
  services: DecisionServices,
  run: PublishedRun,
): Promise<Result<void, Failure>> {
  const tip = await readRef(services.principal.git, `refs/heads/${run.branch}`);
  if (tip === run.head) return ok(undefined);
  return fail(
    "promote-refused",
    `The branch ${run.branch} is ${tip === undefined ? "gone" : `at ${tip.slice(0, 12)}`}, not at ${run.head.slice(0, 12)} as it was reviewed.`,
    {
      cure: `Put it back with: git branch -f ${run.branch} ${run.head}`,
    },
  );
}

async function checkCheckout(
  services: DecisionServices,
  run: PublishedRun,
): Promise<Result<Promotion, Failure>> {
  const quiet = await refuseOperationUnderWay(services.principal);
  if (!quiet.ok) return quiet;
  const head = await readHead(services.principal);
  if (!head.ok) return head;
  if (head.value.branch !== run.onto)
    return fail(
      "promote-refused",
      `The principal checkout is on ${head.value.branch}; run ${run.id} was made for ${run.onto}.`,
      {
        cure: `Check out ${run.onto} first.`,
      },
    );
  const clean = await refuseDirty(services.principal);
  if (!clean.ok) return clean;
  // Landed already: the record of it was lost to a crash, and is now made up for.
  if (head.value.commit === run.head)
    return ok({ before: run.base, after: run.head, branch: run.onto });
  if (head.value.commit !== run.base)
    return fail(
      "promote-refused",
      `${run.onto} has moved since the run: it is at ${head.value.commit.slice(0, 12)}, the run began at ${run.base.slice(0, 12)}.`,
      {
        cure: `Merge it by hand (git merge ${run.branch}), or run the task again.`,
      },
    );
  return ok({ before: head.value.commit, after: run.head, branch: run.onto });
}
