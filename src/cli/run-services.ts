import { join } from "node:path";
import { agentAdapter } from "../agents/registry.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { RunRecord } from "../core/run-record.ts";
import type { RunSpec } from "../core/run-spec.ts";
import type { Principal } from "../git/principal.ts";
import type { History } from "../history/port.ts";
import { runPaths } from "../run/paths.ts";
import type { RunServices } from "../run/services.ts";
import { gitProgram } from "./context.ts";
import type { Call } from "./define.ts";
import { poolFor } from "./prepare-run.ts";
import { engineAndImage } from "./run-tools.ts";

/** What commands that work on one run afterwards (validate, salvage) need: the engine, but no agent and no new lease. */
export async function servicesFor(
  { context }: Call,
  at: { readonly run: RunRecord; readonly history: History; readonly principal: Principal },
  { spec, report }: { readonly spec: RunSpec; readonly report: RunServices["report"] },
): Promise<Result<RunServices, Failure>> {
  const git = gitProgram(context);
  if (!git.ok) return git;
  const tools = await engineAndImage(context, { container: ofRun(spec) });
  if (!tools.ok) return tools;
  const leases = await poolFor(context, at.principal, "builtin");
  if (!leases.ok) return leases;
  return ok({
    env: context.env,
    gitProgram: git.value,
    principal: at.principal,
    engine: tools.value.engine,
    leases: leases.value,
    history: at.history,
    adapter: agentAdapter("command"),
    paths: runPaths(context.env.stateDir, at.run.id),
    guestBundle: join(context.packageRoot, "dist/guest/guest.cjs"),
    remover: join(context.packageRoot, "dist/remover/remover.mjs"),
    now: context.now,
    report,
    signal: context.interrupt,
  });
}

/** The run's own engine, runtime and image: what was done in one engine is not judged in another. */
function ofRun({ engine, image }: RunSpec) {
  const runtime = engine.setup?.runtime;
  return {
    engine: engine.kind,
    runtime: runtime === "" ? undefined : runtime,
    image: image.name,
  };
}
