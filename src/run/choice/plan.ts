import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Git } from "../../git/git.ts";
import { listPaths, readFileAt } from "../../git/read-files.ts";
import { parseTaskPlan, planPathMatches } from "../../tasks/plan.ts";
import type { PlanFile, TaskPlan } from "../../tasks/task.ts";

export interface PlanRules {
  readonly globs: readonly string[];
  readonly runnable: readonly ("ready" | "planned")[];
}

/** Reads the task plan from a commit, never from a work tree. */
export async function readPlan(
  git: Git,
  commit: string,
  rules: PlanRules,
): Promise<Result<TaskPlan, Failure>> {
  const paths = await listPaths(git, commit);
  if (!paths.ok) return paths;
  const matches = planPathMatches(rules.globs);
  const files: PlanFile[] = [];
  for (const path of paths.value.filter((one) => matches(one))) {
    const text = await readFileAt(git, commit, path);
    if (!text.ok) return text;
    if (text.value !== undefined) files.push({ path, text: text.value });
  }
  if (files.length === 0)
    return fail(
      "no-task-plan",
      `Commit ${commit.slice(0, 12)} has no file that matches ${rules.globs.join(" or ")}.`,
    );
  return ok(parseTaskPlan(files, { runnable: rules.runnable }));
}
