import { stat } from "node:fs/promises";
import type { RunRecord } from "../core/run-record.ts";
import { type Principal, openPrincipal } from "../git/principal.ts";
import type { History } from "../history/port.ts";
import { type Failure, fail } from "../core/failures.ts";
import type { Result } from "../core/result.ts";
import { gitProgram, historyOf, principalOf } from "./context.ts";
import type { Call, CommandEnd } from "./define.ts";
import { findRun } from "./find-run.ts";

export interface WithRun {
  readonly run: RunRecord;
  readonly history: History;
  /** The repository the command was called in, or why there is none. */
  readonly principal: Result<Principal, Failure>;
}

/** For commands about one run: opens the history, finds the run that the first argument means, closes again. */
export async function withRun(
  call: Call,
  act: (at: WithRun) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  const principal = await principalOf(call.context);
  const opened = await historyOf(call.context);
  if (!opened.ok) return opened;
  using history = opened.value;
  const here = principal.ok ? principal.value.repositoryId : undefined;
  const run = findRun(history, call.args[0] ?? "", here);
  return run.ok ? await act({ run: run.value, history, principal }) : run;
}

/** The run's own repository, wherever the command was called; fails when it is not there any more. */
export async function principalOfRun(
  { context }: Call,
  { run, principal: here }: Pick<WithRun, "run" | "principal">,
): Promise<Result<Principal, Failure>> {
  if (here.ok && here.value.repositoryId === run.repositoryId) return here;
  const isThere = await stat(run.topLevel).catch(() => undefined);
  if (isThere?.isDirectory() !== true)
    return fail(
      "not-a-repository",
      `The repository of run ${run.id} is not at ${run.topLevel} any more.`,
      { cure: "Put it back there, then try again." },
    );
  const git = gitProgram(context);
  return git.ok ? openPrincipal(git.value, context.env, run.topLevel) : git;
}
