import type { Failure } from "../../core/failures.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { type Result, ok } from "../../core/result.ts";
import { type AgentRef, agentRefs } from "../../git/agent-refs.ts";
import { checkedOutIn } from "../../git/land.ts";
import { deleteRef } from "../../git/publish.ts";
import { type BusyServices, whileBusy } from "./busy.ts";
import type { RecoverServices } from "./recovery.ts";
import { runPaths } from "../paths.ts";
import { readImportReport } from "../stages/import.ts";

const BRANCHES = "refs/heads/agent/";
/** The end of a branch's name; see `newRunId`. */
const RUN_AT_END = /-(\d{6}-\d{6}-[0-9a-z]{5})$/;
const ENDED_WITHOUT: ReadonlySet<RunRecord["state"]> = new Set(["failed", "interrupted"]);

type SettleServices = Pick<RecoverServices, "principal" | "history" | "env">;

/**
 * Takes away the branch that a `salvage` had published when a crash ended it: its run is on record without one, and what
 * it was made of is in the record, for the next `salvage`. A branch that has moved since is somebody's own. May be
 * called again.
 *
 * @param seen the branches of agents a moment ago, which may show that there is nothing to do.
 * @returns a sentence for each run.
 */
export async function settleSalvages(
  services: SettleServices,
  seen?: Result<readonly AgentRef[], Failure>,
): Promise<readonly string[]> {
  if (seen?.ok === true && strayOf(services, seen.value).length === 0) return [];
  const { git } = services.principal;
  const listed = await agentRefs(git, [BRANCHES]);
  // What Git cannot list now stays as it is until the next time.
  if (!listed.ok) return [];
  const done: string[] = [];
  for (const { ref, runId } of strayOf(services, listed.value)) {
    const taken = await takeAway(services, ref, runId);
    if (taken !== undefined) done.push(taken);
  }
  return done;
}

interface Stray {
  readonly ref: AgentRef;
  readonly runId: string;
}

/** The branches whose run ended without one. */
function strayOf({ principal, history }: SettleServices, refs: readonly AgentRef[]): Stray[] {
  return refs.flatMap((ref) => {
    const runId = ref.ref.startsWith(BRANCHES) ? RUN_AT_END.exec(ref.ref)?.[1] : undefined;
    const run = runId === undefined ? undefined : history.run(runId);
    const isStray = run?.repositoryId === principal.repositoryId && ENDED_WITHOUT.has(run.state);
    return runId !== undefined && isStray ? [{ ref, runId }] : [];
  });
}

/** Only while nobody works on the run, and only what its own import made. */
async function takeAway(
  services: SettleServices,
  { ref, tip }: AgentRef,
  runId: string,
): Promise<string | undefined> {
  const { principal, history, env } = services;
  const paths = runPaths(env.stateDir, runId);
  const busy: BusyServices = { env, paths };
  const done = await whileBusy(busy, runId, async () => {
    const report = await readImportReport(paths);
    const isOurs = report !== undefined && `refs/heads/${report.branch}` === ref;
    const state = history.run(runId)?.state;
    if (!isOurs || report.head !== tip || state === undefined || !ENDED_WITHOUT.has(state))
      return ok(undefined);
    // Somebody has switched to it, and would be left without a branch.
    if ((await checkedOutIn(principal, ref)) !== undefined) return ok(undefined);
    const deleted = await deleteRef(principal.git, ref, tip);
    if (!deleted.ok) return deleted;
    return ok(
      `Removed the branch ${report.branch}: a salvage of run ${runId} was cut short by a crash, and can be called again.`,
    );
  });
  return done.ok ? done.value : undefined;
}
