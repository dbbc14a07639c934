import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { refuseDirty, refuseOperationUnderWay } from "../../git/preconditions.ts";
import { type Principal, readHead } from "../../git/principal.ts";

/**
 * The commit of a principal checkout that a decision may move: clean, on the branch, with nothing under way.
 *
 * @param wanted the branch, what a refusal is called, and why it must be that branch (completes "…; ").
 */
export async function commitToMove(
  principal: Principal,
  wanted: {
    readonly branch: string;
    readonly refusal: "promote-refused" | "rollback-refused";
    readonly why: string;
  },
): Promise<Result<string, Failure>> {
  const quiet = await refuseOperationUnderWay(principal);
  if (!quiet.ok) return quiet;
  const head = await readHead(principal);
  if (!head.ok) return head;
  const { branch, commit } = head.value;
  if (branch !== wanted.branch)
    return fail(wanted.refusal, `The principal checkout is on ${branch}; ${wanted.why}.`, {
      cure: `Check out ${wanted.branch} first.`,
    });
  const clean = await refuseDirty(principal);
  return clean.ok ? ok(commit) : clean;
}
