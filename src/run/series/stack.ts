import { blocks } from "../../policy/finding.ts";
import type { FinishedRun } from "../flow.ts";

/** What the next run of a stack builds on. */
export interface StackTop {
  readonly base: string;
  readonly parentRun: string | null;
}

/** A branch with a blocking finding or a failed validation is not built upon. */
export function nextBase(run: FinishedRun, stack: StackTop): StackTop {
  if (run.reviewed === undefined || blocks(run.reviewed.findings).length > 0) return stack;
  const { validation } = run;
  const mustPass = run.spec.validate.length > 0 || validation !== null;
  if (mustPass && validation?.verdict !== "passed") return stack;
  return { base: run.imported.head, parentRun: run.runId };
}
