import type { DecisionIntent, PromotionWay } from "../../core/events.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Validation } from "../../core/run-spec.ts";
import { fastForward } from "../../git/land.ts";
import { commitToMove } from "./checkout.ts";
import {
  type Decision,
  type DecisionServices,
  type PublishedRun,
  checkState,
  recordDecision,
} from "./decision.ts";
import { journalled } from "./journal.ts";
import { type Landing, type OpenLanding, landed, withLanding } from "./landing.ts";
import { checkBranch, checkFindings, checkParent, checkValidation } from "./promotion-checks.ts";
import { whileDeciding } from "./repository-lock.ts";
import { settledIntent } from "./settle.ts";

export interface PromoteRequest extends Decision {
  /** `rebase` and `squash` make new commits where that is needed; `fast-forward` never does. */
  readonly how: PromotionWay;
  /** Blocking findings that the person accepts, as `code` or `code:path`. */
  readonly accepted: readonly string[];
  /** Whom the accepting is meant for: in a stack a code may belong to another run, and counts only where it does. */
  readonly acceptedFor: "this-run" | "stack";
  readonly mode: "for-real" | "dry-run";
  /** Why a failed or missing validation is passed over; undefined when it is not. */
  readonly withoutValidation: string | undefined;
  /**
   * Runs the project's commands on a tree that has not passed them yet; null where the project names none. Not called
   * for a fast-forward, whose tree was the run's own to validate.
   */
  readonly validateTree: (landing: Landing) => Promise<Result<Validation | null, Failure>>;
  /** Told what would land as soon as that is known, before anything is asked of it; once. */
  readonly onLanding: (landing: Landing) => void;
}

type Attempt =
  | { readonly kind: "done"; readonly landing: Landing }
  | { readonly kind: "to-validate"; readonly landing: Landing };

/** What is known of the validation of new commits: nothing yet, or how the project answered. */
type Asked = "not-yet" | "validated" | "no-commands";

/**
 * Lands a run's work on the principal checkout: clean, on the branch the run was made for. Everything is checked
 * again under the repository's lock; on any refusal nothing has changed. A validation may take long, so it runs
 * without the lock; the promotion then begins anew and finds its result by the tree.
 */
export async function promote(
  services: DecisionServices,
  request: PromoteRequest,
): Promise<Result<Landing, Failure>> {
  const first = await attempt(services, request, "not-yet");
  if (!first.ok) return first;
  if (first.value.kind === "done") return ok(first.value.landing);
  const validation = await request.validateTree(first.value.landing);
  if (!validation.ok) return validation;
  if (validation.value !== null)
    recordDecision(services, request.run, { type: "validated", validation: validation.value });
  const again = { ...request, onLanding: () => undefined };
  const asked = validation.value === null ? "no-commands" : "validated";
  const second = await attempt(services, again, asked);
  return second.ok ? ok(second.value.landing) : second;
}

function attempt(
  services: DecisionServices,
  request: PromoteRequest,
  asked: Asked,
): Promise<Result<Attempt, Failure>> {
  return whileDeciding(services, async (settled) => {
    const late = settledIntent(settled, request.run.id, "promotion-intent");
    if (late !== undefined) {
      const landing = await landed(services.principal.git, { ...late, branch: request.run.onto });
      return landing.ok ? ok({ kind: "done", landing: landing.value }) : landing;
    }
    const run = checkState(services, request.run, "promoted");
    if (!run.ok) return run;
    const head = await checkSurroundings(services, run.value);
    if (!head.ok) return head;
    const at = { run: run.value, head: head.value, how: request.how };
    return withLanding(services, at, (open) =>
      tryLanding(services, request, { run: run.value, head: head.value, open, asked }),
    );
  });
}

async function checkSurroundings(
  services: DecisionServices,
  run: PublishedRun,
): Promise<Result<string, Failure>> {
  const parent = checkParent(services, run);
  if (!parent.ok) return parent;
  const branch = await checkBranch(services, run);
  if (!branch.ok) return branch;
  return commitToMove(services.principal, {
    branch: run.onto,
    refusal: "promote-refused",
    why: `run ${run.id} was made for ${run.onto}`,
  });
}

interface Trial {
  readonly run: PublishedRun;
  readonly head: string;
  readonly open: OpenLanding;
  readonly asked: Asked;
}

async function tryLanding(
  services: DecisionServices,
  request: PromoteRequest,
  { run, head, open, asked }: Trial,
): Promise<Result<Attempt, Failure>> {
  const { landing } = open;
  request.onLanding(landing);
  // Before the validation, which may take long: it would be a waste where this refuses.
  const accepted = await checkFindings(services, run, { ...request, open });
  if (!accepted.ok) return accepted;
  const validation = await askValidation(services, request, { run, head, open, asked });
  if (!validation.ok) return validation;
  if (request.mode === "dry-run") return ok({ kind: "done", landing });
  const moved = await open.transfer();
  if (!moved.ok) return moved;
  if (validation.value === "to-validate") return ok({ kind: "to-validate", landing });
  const done = await land(services, { ...request, accepted: accepted.value }, { landing, head });
  return done.ok ? ok({ kind: "done", landing }) : done;
}

async function askValidation(
  services: DecisionServices,
  request: PromoteRequest,
  { run, open, asked }: Trial,
): Promise<Result<"fine" | "to-validate", Failure>> {
  const { landing } = open;
  if (request.withoutValidation !== undefined || asked === "no-commands") return ok("fine");
  const known = run.validations[landing.tree];
  if (landing.how === "fast-forward" || (asked === "validated" && known !== undefined)) {
    const fine = await checkValidation(services, run, landing);
    return fine.ok ? ok("fine") : fine;
  }
  if (known?.verdict === "passed") return ok("fine");
  if (asked === "not-yet") return ok("to-validate");
  return fail(
    "promote-refused",
    `${run.onto} moved again while the new tree was validated, so what would land now has not been.`,
    { cure: "Promote again. Nothing was changed." },
  );
}

/** The move, with its intent before and its outcome behind it in the journal. */
async function land(
  services: DecisionServices,
  request: PromoteRequest,
  { landing, head }: { readonly landing: Landing; readonly head: string },
): Promise<Result<void, Failure>> {
  const { how, before, after, branch } = landing;
  const { by, why, accepted } = request;
  const intent: DecisionIntent = {
    type: "promotion-intent",
    how,
    before,
    after,
    by,
    why,
    accepted,
    withoutValidation: request.withoutValidation ?? null,
  };
  const way = { from: head, to: after, branch, refusal: "promote-refused" as const };
  return journalled(services, { run: request.run, intent }, () =>
    fastForward(services.principal, way),
  );
}
