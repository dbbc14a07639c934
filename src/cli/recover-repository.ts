import { join } from "node:path";
import { agentAdapter } from "../agents/registry.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { Principal } from "../git/principal.ts";
import type { RecoverServices, Recovery } from "../run/afterwards/recovery.ts";
import { recover } from "../run/recover.ts";
import { gitProgram } from "./context.ts";
import type { Call } from "./define.ts";
import { openOrBegin } from "./damaged-history.ts";
import { answeringEngines } from "./engines.ts";
import { humanProgress } from "./output/progress.ts";
import { allPools } from "./prepare-run.ts";

/** Recovers the dead runs of one repository; refuses before anything is changed when no engine answers. */
export async function recoverRepository(
  { context, format }: Call,
  principal: Principal,
  orphans: RecoverServices["orphans"],
): Promise<Result<Recovery, Failure>> {
  const git = gitProgram(context);
  if (!git.ok) return git;
  const engines = await answeringEngines(context);
  if (!engines.ok) return engines;
  const opened = await openOrBegin(context);
  if (!opened.ok) return opened;
  using history = opened.value.history;
  const recovery = await recover({
    env: context.env,
    gitProgram: git.value,
    principal,
    engines: engines.value,
    pools: await allPools(context, principal),
    history,
    adapter: agentAdapter("command"),
    guestBundle: join(context.packageRoot, "dist/guest/guest.cjs"),
    remover: join(context.packageRoot, "dist/remover/remover.mjs"),
    now: context.now,
    report: format === "json" ? () => undefined : humanProgress(context.output),
    signal: context.interrupt,
    orphans,
  });
  return ok({ ...recovery, actions: [...opened.value.actions, ...recovery.actions] });
}
