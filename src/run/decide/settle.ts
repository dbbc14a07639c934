import type { DecisionIntent, RunEvent } from "../../core/events.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { isAncestor } from "../../git/land.ts";
import { readRef } from "../../git/publish.ts";
import type { DecisionServices } from "./decision.ts";

/** An intent that was found without its outcome, and what Git says about it. */
export interface Settled {
  readonly run: RunRecord;
  readonly intent: DecisionIntent;
  /** `recorded`: it had happened, and now the history says so. `unclear`: the branch holds neither end of it. */
  readonly outcome: "recorded" | "unclear";
}

/**
 * Makes up for records that a crash left out: whether a promotion or rollback happened is Git's to say. One that did
 * not happen stays open, and does no harm: the child that was to move the branch may outlive us and be late. To be
 * called under the repository's lock. May be called again.
 */
export async function settle(
  services: Pick<DecisionServices, "principal" | "history">,
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];
  for (const run of services.history.undecided(services.principal.repositoryId)) {
    const { intent } = run;
    if (intent === null) continue;
    const outcome = await outcomeOf(services, run.onto, intent);
    if (outcome === "not-happened") continue;
    if (outcome === "recorded") services.history.append(run.id, outcomeEvent(intent));
    settled.push({ run, intent, outcome });
  }
  return settled;
}

/** The intent of a kind that this run had open and that turned out to have happened; the command has nothing left to do. */
export function settledIntent<T extends DecisionIntent["type"]>(
  settled: readonly Settled[],
  runId: string,
  type: T,
): Extract<DecisionIntent, { type: T }> | undefined {
  const isWanted = (intent: DecisionIntent): intent is Extract<DecisionIntent, { type: T }> =>
    intent.type === type;
  return settled
    .filter(({ run, outcome }) => run.id === runId && outcome === "recorded")
    .map(({ intent }) => intent)
    .find(isWanted);
}

/** The event that says that the intent came true. */
export function outcomeEvent(intent: DecisionIntent): RunEvent {
  return intent.type === "promotion-intent"
    ? { ...intent, type: "run-promoted" }
    : { ...intent, type: "run-rolled-back" };
}

/** More commits may have come on top meanwhile, so the question is what the branch holds, not where it is. */
async function outcomeOf(
  { principal }: Pick<DecisionServices, "principal">,
  branch: string,
  intent: DecisionIntent,
): Promise<Settled["outcome"] | "not-happened"> {
  const tip = await readRef(principal.git, `refs/heads/${branch}`);
  if (tip === undefined) return "unclear";
  const holdsBefore = await isAncestor(principal, intent.before, tip);
  const holdsAfter = await isAncestor(principal, intent.after, tip);
  // Going back leaves less than there was, everything else leaves more.
  const happened = intent.how === "reset" ? holdsAfter && !holdsBefore : holdsAfter;
  if (happened) return "recorded";
  return holdsBefore ? "not-happened" : "unclear";
}

/** What happened, for a person. */
export function settledText({ run, intent, outcome }: Settled): string {
  const what = intent.type === "promotion-intent" ? "promotion" : "rollback";
  if (outcome === "recorded")
    return `The ${what} of run ${run.id} had happened before a crash; it is on record now.`;
  return `A ${what} of run ${run.id} was begun, and ${run.onto} holds neither ${intent.before.slice(0, 12)} nor ${intent.after.slice(0, 12)}: see what became of it with \`git log\`; the run is ${run.state}.`;
}
