import { join } from "node:path";
import { agentAdapter } from "../agents/registry.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { Principal } from "../git/principal.ts";
import { type Recovery, recover } from "../run/recover.ts";
import { engineOf, gitProgram, historyOf } from "./context.ts";
import type { Call } from "./define.ts";
import { humanProgress } from "./output/progress.ts";
import { allPools } from "./prepare-run.ts";

/** Recovers the dead runs of one repository; refuses before anything is changed when the engine does not answer. */
export async function recoverRepository(
  { context, format }: Call,
  principal: Principal,
): Promise<Result<Recovery, Failure>> {
  const git = gitProgram(context);
  if (!git.ok) return git;
  const engine = engineOf(context);
  if (!engine.ok) return engine;
  const probed = await engine.value.probe();
  if (!probed.ok) return probed;
  const opened = await historyOf(context);
  if (!opened.ok) return opened;
  using history = opened.value;
  return ok(
    await recover({
      env: context.env,
      gitProgram: git.value,
      principal,
      engine: engine.value,
      pools: await allPools(context, principal),
      history,
      adapter: agentAdapter("command"),
      guestBundle: join(context.packageRoot, "dist/guest/guest.mjs"),
      now: context.now,
      report: format === "json" ? () => undefined : humanProgress(context.output),
      signal: context.interrupt,
    }),
  );
}
