import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunState } from "../../core/run-state.ts";
import { readRef } from "../../git/publish.ts";
import { type Finding, blocks } from "../../policy/finding.ts";
import { runPaths } from "../paths.ts";
import { findingsNow } from "../review/findings-now.ts";
import { validationStanding } from "../review/validation-standing.ts";
import { findingsElsewhere } from "../review/review-again.ts";
import { readFindings } from "../stages/review.ts";
import { readSpec } from "../stages/spec.ts";
import { isOfValidation, names, refuseUnknownAccepts } from "./accepts.ts";
import type { DecisionServices, PublishedRun } from "./decision.ts";
import type { Landing, OpenLanding } from "./landing.ts";
import type { PromoteRequest } from "./promote.ts";

/**
 * The findings of what would land must have been accepted.
 *
 * @returns what of the accepting counts for this run.
 */
export async function checkFindings(
  services: DecisionServices,
  run: PublishedRun,
  at: Pick<PromoteRequest, "accepted" | "acceptedFor"> & { readonly open: OpenLanding },
): Promise<Result<readonly string[], Failure>> {
  const findings = await findingsOfLanding(services, run, at.open);
  if (!findings.ok) return findings;
  const accepted =
    at.acceptedFor === "stack"
      ? at.accepted.filter((one) => findings.value.some((found) => names(one, found)))
      : at.accepted;
  const known = refuseUnknownAccepts({ run, accepted }, findings.value);
  if (!known.ok) return known;
  const open = blocks(findings.value)
    .filter((one) => !isOfValidation(one.code))
    .filter((one) => !isAccepted(one, accepted));
  if (open.length === 0) return ok(accepted);
  const accepts = open.map((one) => `--accept ${one.code}`).join(" ");
  const elsewhere =
    at.open.landing.before === run.base ? "" : ` on top of what ${run.onto} has now`;
  return fail(
    "promote-refused",
    `Run ${run.id} has ${open.length} blocking ${open.length === 1 ? "finding" : "findings"}${elsewhere} that nobody accepted.`,
    {
      details: open.flatMap((one) => [
        `${one.code}: ${one.why}`,
        ...one.paths.map((path) => `  ${path}`),
      ]),
      cure: `Look at them with \`guardloop review ${run.id}\`, then pass ${accepts} to promote all the same.`,
    },
  );
}

/** What was reviewed has its findings on record; elsewhere the same commits may mean something else. */
async function findingsOfLanding(
  services: DecisionServices,
  run: PublishedRun,
  { landing, git }: OpenLanding,
): Promise<Result<readonly Finding[], Failure>> {
  const paths = runPaths(services.env.stateDir, run.id);
  if ((await readFindings(paths)) === undefined)
    return fail(
      "promote-refused",
      `Run ${run.id} has no review, so it is not known what it would land.`,
      { cure: `Run \`guardloop review ${run.id}\` first.` },
    );
  if (landing.after === run.head) return findingsNow(services, run, paths);
  const { before, after, tree } = landing;
  const range = { base: before, head: after, tree };
  return findingsElsewhere({ ...services, objects: git }, { run, paths }, range);
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

/** Where the project names validation commands, exactly the tree that would land must have passed them. */
export async function checkValidation(
  services: DecisionServices,
  run: PublishedRun,
  { how, tree }: Landing,
): Promise<Result<void, Failure>> {
  const spec = await readSpec(runPaths(services.env.stateDir, run.id));
  const standing = validationStanding(run, spec.ok ? spec.value : undefined, tree);
  if (standing.kind === "passed" || standing.kind === "not-required") return ok(undefined);
  const what = how === "fast-forward" ? `run ${run.id}` : "what would land";
  return fail(
    "promote-refused",
    standing.kind === "missing"
      ? `Run ${run.id} has not been validated.`
      : `The validation of ${what} failed.`,
    {
      details: standing.kind === "failed" ? standing.commands : [],
      cure:
        how === "fast-forward"
          ? `Run \`guardloop validate ${run.id}\` again, or pass --without-validation REASON.`
          : `See \`guardloop logs ${run.id} --validation\`; --without-validation REASON lands it all the same.`,
    },
  );
}

export function checkParent(services: DecisionServices, run: PublishedRun): Result<void, Failure> {
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

export async function checkBranch(
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
