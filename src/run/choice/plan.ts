import { createHash } from "node:crypto";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Git } from "../../git/git.ts";
import { filesAt } from "../../git/read-files.ts";
import { parseTaskPlan, planPathMatches, planPlaces } from "../../tasks/plan.ts";
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

/**
 * Plans that were read, by commit and rules. What a commit holds never changes, and one run asks for the plan of its base
 * in several places.
 */
const READ = new Map<string, ReadPlan>();
/** A series reads a plan for each of its runs. */
const MOST_READ = 8;

/**
 * Reads the task plan from a commit, never from a work tree.
 *
 * @param commit a full id
 */
export async function readPlan(
  git: Git,
  commit: string,
  rules: PlanRules,
): Promise<Result<ReadPlan, Failure>> {
  const key = JSON.stringify([commit, rules.globs, rules.runnable]);
  const known = READ.get(key);
  if (known !== undefined) return ok(known);
  const read = await filesAt(git, commit, {
    isWanted: planPathMatches(rules.globs),
    within: planPlaces(rules.globs),
  });
  if (!read.ok) return read;
  const files: readonly PlanFile[] = read.value;
  if (files.length === 0)
    return fail(
      "no-task-plan",
      `Commit ${commit.slice(0, 12)} has no file that matches ${rules.globs.join(" or ")}.`,
    );
  const plan = { ...parseTaskPlan(files, { runnable: rules.runnable }), hash: hashOf(files) };
  for (const oldest of [...READ.keys()].slice(0, READ.size + 1 - MOST_READ)) READ.delete(oldest);
  READ.set(key, plan);
  return ok(plan);
}

/** Lengths are part of it, so that no two plans look the same. */
function hashOf(files: readonly PlanFile[]): string {
  const hash = createHash("sha256");
  for (const { path, text } of files) hash.update(`${path}\0${Buffer.byteLength(text)}\0${text}`);
  return hash.digest("hex");
}
