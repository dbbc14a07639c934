import { visible } from "../../core/visible.ts";
import type { AgentBranch } from "../../run/branches/list.ts";
import type { Pruning } from "../../run/branches/prune.ts";
import type { Context } from "../context.ts";
import { count } from "../output/count.ts";
import { ago } from "../output/duration.ts";
import type { Output } from "../output/output.ts";
import { stateText } from "../output/state.ts";
import { type Segment, bold, dim, green, yellow } from "../output/text.ts";

/** A row a branch, the newest first, with whether it can be pruned and why. */
export function branchTable({ output, now }: Context, branches: readonly AgentBranch[]): void {
  if (branches.length === 0) {
    output.result("No agent has left a branch here. Start a run with: guardloop run");
    return;
  }
  const heads = ["TASK", "RUN", "STATE", "PUBLISHED", "COMMITS", "CHANGE", "DISTANCE", "PRUNE"];
  output.table([
    heads.map((head) => dim(head)),
    ...branches.map((one): readonly Segment[] => [
      one.run?.task ?? "-",
      bold(one.run?.id ?? visible(one.branch, "one-line")),
      one.run === null ? "-" : stateText(one.run.state),
      ago(one.since, now()),
      one.commits === null ? "-" : String(one.commits),
      changeText(one),
      distanceText(one),
      one.verdict.kind === "prunable" ? green(`yes: ${one.verdict.why}`) : `no: ${one.verdict.why}`,
    ]),
  ]);
}

function changeText({ size }: AgentBranch): string {
  if (size === null) return "-";
  return `${count(size.files, "file")} +${size.addedLines} -${size.deletedLines}`;
}

function distanceText({ run, distance }: AgentBranch): string {
  if (run === null) return "-";
  if (distance === null) return `${run.onto} is gone`;
  return `${distance.ahead} ahead, ${distance.behind} behind ${run.onto}`;
}

/** What went, or would go, each with the exact commit by which a person can have it back. */
export function printPruned(
  output: Output,
  mode: "dry-run" | "prune",
  { branches, pruned, problems }: Pruning,
): void {
  for (const { branch, tip, verdict } of pruned)
    output.result(
      mode === "prune" ? "Pruned " : "Would prune ",
      bold(branch),
      `: ${verdict.why}. ${mode === "prune" ? "It was at" : "It is at"} ${tip}`,
    );
  for (const problem of problems) output.result(yellow("Not pruned: "), problem);
  const kept = branches.length - pruned.length - problems.length;
  if (pruned.length === 0 && problems.length === 0) output.result("Nothing to prune.");
  if (kept > 0) output.result(`${count(kept, "branch")} kept; \`guardloop branches\` says why.`);
  if (mode === "dry-run" && pruned.length > 0) output.result("Nothing was changed.");
  if (mode === "prune" && pruned.length > 0)
    output.result(
      "Until Git collects the commits, one comes back with: git branch NAME ID; a discarded run also with: guardloop restore RUN",
    );
}

/** The documented shape; see docs/json.md. */
export function printBranchesJson(
  output: Output,
  mode: "list" | "dry-run" | "prune",
  { branches, pruned, problems }: Pruning,
): void {
  output.json({
    version: 1,
    mode,
    branches: branches.map(({ ref, branch, tip, run, verdict, ...rest }) => ({
      ref,
      branch,
      tip,
      run: run && { id: run.id, task: run.task, state: run.state, onto: run.onto },
      since: rest.since,
      commits: rest.commits,
      size: rest.size,
      distance: rest.distance,
      prunable: verdict.kind === "prunable" ? verdict.because : null,
      why: verdict.why,
    })),
    pruned: pruned.map(({ ref, branch, tip, run, verdict }) => ({
      ref,
      branch,
      tip,
      run: run.id,
      because: verdict.because,
    })),
    problems,
  });
}
