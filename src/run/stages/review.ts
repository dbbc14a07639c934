import { readFile } from "node:fs/promises";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import type { Git } from "../../git/git.ts";
import type { Finding } from "../../policy/finding.ts";
import { findingsOf } from "../../policy/findings.ts";
import type { RunPaths } from "../paths.ts";
import { type ReviewInput, gatherFacts } from "../review/review-facts.ts";
import type { Stage } from "../stage.ts";

export interface Reviewed {
  readonly reviewed: { readonly progress: "made" | "none"; readonly findings: readonly Finding[] };
}

/** Computes what a person must see before deciding; the decision itself is another command. */
export const reviewStage: Stage<ReviewInput, Reviewed> = {
  name: "review",
  async perform(services, input) {
    const reviewed = await computeReview(services.principal.git, services.paths, input);
    return reviewed.ok ? ok({ reviewed: reviewed.value }) : reviewed;
  },
  async observe(services) {
    return ok((await readFindings(services.paths)) === undefined ? "absent" : "present");
  },
  undo: async () => ok(undefined),
};

/** Computes the findings and writes them into the run's record. May be called again. */
export async function computeReview(
  git: Git,
  paths: RunPaths,
  input: ReviewInput,
): Promise<Result<Reviewed["reviewed"], Failure>> {
  const judged = await judge(git, input);
  if (!judged.ok) return judged;
  const report = { version: 1, ...judged.value };
  await writeAtomic(paths.review, `${JSON.stringify(report, null, 2)}\n`);
  return judged;
}

/** Computes the findings and writes nothing. */
export async function judge(
  git: Git,
  input: ReviewInput,
): Promise<Result<Reviewed["reviewed"], Failure>> {
  const facts = await gatherFacts(git, input);
  if (!facts.ok) return facts;
  const progress = facts.value.task.atTip === "runnable" ? "none" : "made";
  return ok({ progress, findings: findingsOf(facts.value) });
}

/** The findings in a run's record; undefined when there are none written yet. */
export async function readFindings(paths: RunPaths): Promise<readonly Finding[] | undefined> {
  const text = await readFile(paths.review, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  // Our own file in a directory that only we can write.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (JSON.parse(text) as { findings: readonly Finding[] }).findings;
}
