import type { Command } from "commander";
import type { PromotionWay } from "../../core/events.ts";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { Validation } from "../../core/run-spec.ts";
import type { Decision, DecisionServices } from "../../run/decide/decision.ts";
import type { Landing } from "../../run/decide/landing.ts";
import { waitingAttempts } from "../../run/compare/attempts.ts";
import { promote } from "../../run/decide/promote.ts";
import { parentsToPromote } from "../../run/decide/stack.ts";
import { runPaths } from "../../run/paths.ts";
import { readSpec } from "../../run/stages/spec.ts";
import type { Context } from "../context.ts";
import { EXITS, decide, decision, say } from "../decision-command.ts";
import {
  type Call,
  type CommandEnd,
  type Finish,
  action,
  gather,
  listOption,
  textOption,
} from "../define.ts";
import { stillReady } from "../output/comparison.ts";
import { printLanding, promotionLines } from "../output/landing.ts";
import { validateTree } from "../validate-tree.ts";

export function promoteCommand(context: Context, finish: Finish): Command {
  const command = decision({
    name: "promote",
    description:
      "Fast-forwards the branch that the run was made for; where that has moved, --rebase puts the run's commits on top and --squash lands them as one, both checked and validated again. The checkout must be clean; blocking findings must be accepted by name; a conflict changes nothing. Your hooks are off meanwhile. `guardloop rollback` takes it back.",
    exits: [...EXITS, EXIT.interrupted],
    examples: [
      "guardloop promote @last",
      "guardloop promote @last --rebase --dry-run",
      "guardloop promote @last --accept protected-ci --why 'looked at the workflow'",
    ],
  })
    .option("--rebase", "put the commits on top of what your branch has now")
    .option("--squash", "land everything the run changed as one commit")
    .option("--accept <CODE[:PATH]>", "accept a blocking finding", gather)
    .option(
      "--without-validation <REASON>",
      "land it although validation failed or is missing; recorded",
    )
    .option("--with-parents", "promote the runs it builds on first, in order")
    .option("--dry-run", "check everything, change nothing");
  return action(command, { context, finish }, performPromote);
}

/** What `promote` does; also called by `review`, with the answers of a person in place of options. */
export async function performPromote(call: Call): Promise<CommandEnd> {
  const how = wayOf(call);
  if (!how.ok) return how;
  return decide(call, (services, request) =>
    promoteInOrder(call, services, { request, how: how.value }),
  );
}

function wayOf({ options }: Call): Result<PromotionWay, Failure> {
  if (options.rebase === true && options.squash === true)
    return fail("usage", "--rebase and --squash exclude each other.", {
      cure: "Pass one of them.",
    });
  if (options.rebase === true) return ok("rebase");
  return ok(options.squash === true ? "squash" : "fast-forward");
}

/** With --with-parents the runs below are promoted first, each by the same rules; the first refusal ends it. */
async function promoteInOrder(
  call: Call,
  services: DecisionServices,
  { request, how }: { readonly request: Decision; readonly how: PromotionWay },
): Promise<CommandEnd> {
  const withParents = call.options.withParents === true;
  const parents = withParents ? parentsToPromote(services.history, request.run) : [];
  const mode = call.options.dryRun === true ? ("dry-run" as const) : ("for-real" as const);
  const chain = [...parents, request.run];
  // Nothing lands in a dry run, so only the lowest of a stack can be checked.
  const checked = mode === "dry-run" ? chain.slice(0, 1) : chain;
  for (const run of checked) {
    const done = await promote(services, {
      ...request,
      run,
      how,
      mode,
      accepted: listOption(call, "accept"),
      acceptedFor: chain.length > 1 ? "stack" : "this-run",
      withoutValidation: textOption(call, "withoutValidation"),
      validateTree: (landing) => validateLanding(call, services, { run, landing }),
      onLanding: (landing) => {
        if (call.format === "human") printLanding(call.context.output, run, landing);
      },
    });
    if (!done.ok) return done;
    const validated = services.history.run(run.id)?.validations[done.value.tree];
    const lines = promotionLines(run, { mode, landing: done.value, validated });
    say(call, { run: run.id, mode, ...done.value }, lines);
  }
  if (mode === "for-real" && call.format === "human") sayOtherAttempts(call, services, request.run);
  if (checked.length < chain.length && call.format === "human") sayRest(call, chain.slice(1));
  return ok(EXIT.done);
}

/** One attempt has landed; the others are the person's to drop, since nothing else tells that they are not wanted. */
function sayOtherAttempts(call: Call, { history }: DecisionServices, run: RunRecord): void {
  const waiting = waitingAttempts(history.runs(run.repositoryId), run);
  for (const line of stillReady(run, waiting)) call.context.output.result(...line);
}

function sayRest(call: Call, rest: readonly RunRecord[]): void {
  const names = rest.map((run) => run.task ?? run.id).join(", ");
  call.context.output.result(`Then would follow: ${names}.`);
}

/** The commands come from the checkout as it is now; where it names none, those that the run had to pass still count. */
async function validateLanding(
  call: Call,
  services: DecisionServices,
  { run, landing }: { readonly run: RunRecord; readonly landing: Landing },
): Promise<Result<Validation | null, Failure>> {
  const spec = await readSpec(runPaths(services.env.stateDir, run.id));
  if (!spec.ok) return spec;
  return validateTree(
    call,
    { run, history: services.history, principal: services.principal },
    {
      spec: spec.value,
      head: landing.after,
      tree: landing.tree,
      otherwise: spec.value.validate,
      announce: (commands) => {
        const names = commands.map((one) => one.name).join(", ");
        if (call.format === "human")
          call.context.output.progress(`Validating what would land: ${names}.`);
      },
    },
  );
}
