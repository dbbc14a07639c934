import { createHash } from "node:crypto";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Git } from "../../git/git.ts";
import { listPaths, readFileAt } from "../../git/read-files.ts";
import { parseTaskPlan, planPathMatches } from "../../tasks/plan.ts";
import type { PlanFile, TaskPlan } from "../../tasks/task.ts";

/** A plan with what tells it from every other one. */
export interface ReadPlan extends TaskPlan {
  /** SHA-256 over paths and contents of its files, in order. */
  readonly hash: string;
}

export interface PlanRules {
  readonly globs: readonly string[];
  readonly runnable: readonly ("ready" | "planned")[];
}

/** Reads the task plan from a commit, never from a work tree. */
export async function readPlan(
  git: Git,
  commit: string,
  rules: PlanRules,
): Promise<Result<ReadPlan, Failure>> {
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
  return ok({ ...parseTaskPlan(files, { runnable: rules.runnable }), hash: hashOf(files) });
}

/** Lengths are part of it, so that no two plans look the same. */
function hashOf(files: readonly PlanFile[]): string {
  const hash = createHash("sha256");
  for (const { path, text } of files) hash.update(`${path}\0${Buffer.byteLength(text)}\0${text}`);
  return hash.digest("hex");
}
