import type { Command } from "commander";
import { branchDays } from "../../config/sections/retention.ts";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { listBranches } from "../../run/branches/list.ts";
import { type Pruning, prunable, pruneBranches } from "../../run/branches/prune.ts";
import type { DecisionServices } from "../../run/decide/decision.ts";
import { branchTable, printBranchesJson, printPruned } from "../branches/print.ts";
import { type Context, gitProgram, historyOf, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { settingFlags } from "../setting-options.ts";
import { settingsHere } from "../settings.ts";

type Mode = "list" | "dry-run" | "prune";

export function branchesCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "branches",
    description:
      "Lists the branches below agent/ and what is kept of discarded ones: task, run, state, age, size, and how far each is from the branch it lands on. --prune removes those that have provably landed, or were discarded, longer ago than retention.branch_days; nothing else, and never a commit.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop branches",
      "guardloop branches --prune --dry-run",
      "guardloop branches --prune --branch-days 30",
    ],
  })
    .option("--prune", "remove the branches that may go")
    .option("--dry-run", "with --prune: say what would go, change nothing")
    .option(`${branchDays.flag.name} <N>`, `${branchDays.description} [${branchDays.guard}]`);
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const mode = modeOf(call);
  if (!mode.ok) return mode;
  const principal = await principalOf(context);
  if (!principal.ok) return principal;
  const resolved = await settingsHere(context, settingFlags(call));
  if (!resolved.ok) return resolved;
  for (const notice of resolved.value.notices)
    if (notice.includes(` ${branchDays.key} `)) context.output.progress(notice);
  const opened = await historyOf(context);
  if (!opened.ok) return opened;
  using history = opened.value;
  const git = gitProgram(context);
  if (!git.ok) return git;
  const { env, now } = context;
  const services = { env, gitProgram: git.value, principal: principal.value, history, now };
  const done = await act(services, mode.value, {
    now: context.now(),
    retentionDays: resolved.value.settings.retention.branchDays,
  });
  if (!done.ok) return done;
  if (call.format === "json") printBranchesJson(context.output, mode.value, done.value);
  else if (mode.value === "list") branchTable(context, done.value.branches);
  else printPruned(context.output, mode.value, done.value);
  return ok(done.value.problems.length > 0 ? EXIT.failed : EXIT.done);
}

function modeOf({ options }: Call): Result<Mode, Failure> {
  if (options.prune === true) return ok(options.dryRun === true ? "dry-run" : "prune");
  if (options.dryRun !== true) return ok("list");
  return fail("usage", "--dry-run says what --prune would do.", {
    cure: "Pass both, or neither for the list.",
  });
}

async function act(
  services: DecisionServices,
  mode: Mode,
  at: { readonly now: Date; readonly retentionDays: number },
): Promise<Result<Pruning, Failure>> {
  if (mode === "prune") return pruneBranches(services, at);
  const listed = await listBranches(services, at);
  if (!listed.ok) return listed;
  const pruned = mode === "dry-run" ? prunable(listed.value) : [];
  return ok({ branches: listed.value, pruned, problems: [] });
}
