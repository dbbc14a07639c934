import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type RunSummary, type World, checkoutDigest, leftovers, runsOf } from "./world.ts";

const AGENT_BRANCHES = /^refs\/heads\/agent\//;

/** What of a crash may not be there any more after its recovery, and that the user's side is as it was. */
export async function expectCleanAfterCrash(
  world: World,
  before: string,
): Promise<readonly RunSummary[]> {
  expect(checkoutDigest(world, AGENT_BRANCHES)).toBe(before);
  expect(leftovers(world)).toEqual([]);
  expect(unfinishedFiles(world)).toEqual([]);
  const runs = await runsOf(world);
  expect(runs.filter((run) => run.state === "running")).toEqual([]);
  const branches = runs.flatMap((run) => (run.branch === null ? [] : [run.branch])).toSorted();
  const refs = world.git("for-each-ref", "--format=%(refname:short)", "refs/heads/agent");
  expect(refs.split("\n").filter(Boolean).toSorted()).toEqual(branches);
  expect(world.git("for-each-ref", "refs/guardloop")).toBe("");
  execFileSync("git", ["fsck", "--strict"], { cwd: world.repo, env: world.env, stdio: "pipe" });
  return runs;
}

/** Where the finished work of a run is: on a branch, or kept as patches that `salvage` takes. */
export function workOf(world: World, run: RunSummary | undefined): "branch" | "patches" | "none" {
  if (run === undefined) return "none";
  if (run.branch !== null)
    return world.git("show", `${run.branch}:T1.txt`) === "work on T1" ? "branch" : "none";
  for (const kept of ["salvage", "artifacts"]) {
    const patches = join(world.state, "runs", run.id, kept, "patches");
    if (existsSync(patches) && readdirSync(patches).length > 0) return "patches";
  }
  return "none";
}

/** Halves of files, markers and locks that the dead process was at work with. */
export function unfinishedFiles(world: World): readonly string[] {
  const isUnfinished =
    /\.(tmp|stale|new)$|\/\.new-|\/\.marker-|^(locks|slots)\/|\/busy$|\/busy\.\d+|\.(lock|busy)\.\d+/;
  const state = existsSync(world.state) ? readdirSync(world.state, { recursive: true }) : [];
  const registered = join(world.repo, ".git/worktrees");
  const worktrees = existsSync(registered) ? readdirSync(registered, { recursive: true }) : [];
  return [
    ...state.map(String).filter((name) => isUnfinished.test(name)),
    ...worktrees.map(String).filter((name) => /(^|\/)(locked|.*\.lock)$/.test(name)),
  ];
}

export function loseHistory(world: World): void {
  for (const name of ["history.db", "history.db-wal", "history.db-shm"])
    rmSync(join(world.state, name), { force: true });
}
