import { GUEST_EXPORTS, type GuestJob, SAID_BY_GUEST } from "../core/artifacts.ts";
import { type AgentReport, NOT_RUN, runAgent } from "./agent.ts";
import { askVersion } from "./agent-version.ts";
import { endOthers, firstProcessCommandLine, ownsProcessNamespace } from "./end-others.ts";
import { GUEST_EXIT, type GuestExit } from "./exit-status.ts";
import { type ExportContext, exportWork } from "./export.ts";
import { prepareHome } from "./home.ts";
import { readLimitsHit } from "./limits-hit.ts";
import { preflight } from "./preflight.ts";
import { artifactProblems } from "./required-artifacts.ts";
import type { Say } from "./say.ts";
import { runSetup } from "./setup.ts";
import type { StopRequest } from "./stop-request.ts";

export interface GuestProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the file this process was started with. */
  readonly bundle: string;
  readonly say: Say;
  readonly stop: StopRequest;
}

/**
 * Checks, runs the agent, exports; or only exports, or only runs the commands of a setup phase. Says why on every status
 * but 0.
 */
export async function runJob(job: GuestJob, guest: GuestProcess): Promise<number> {
  if (job.mode === "setup") return runSetup(job, guest);
  const found = await preflight(job, guest.env);
  const ready =
    found.ok && job.mode === "run" ? await prepareHome(guest.env.HOME ?? "", job) : found;
  if (!found.ok || !ready.ok) {
    if (!ready.ok) guest.say(ready.error);
    return GUEST_EXIT.refused;
  }
  const { agent, agentVersion } =
    job.mode === "run" ? await startAgent(job, guest) : { agent: NOT_RUN, agentVersion: undefined };
  if (job.mode === "run") guest.say(GUEST_EXPORTS.slice(SAID_BY_GUEST.length));
  const firstProcess = await firstProcessCommandLine();
  if (ownsProcessNamespace(job.isolation, firstProcess, guest.bundle))
    await endOthers(job.paths, guest.say);
  const limitsHit = job.isolation === "container" ? await readLimitsHit() : undefined;
  const surroundings = found.value;
  return exportAndCheck({ job, surroundings, agent, agentVersion, limitsHit, say: guest.say });
}

async function startAgent(
  job: GuestJob,
  guest: GuestProcess,
): Promise<{ readonly agent: AgentReport; readonly agentVersion: string | undefined }> {
  const surroundings = { cwd: job.paths.workspace, env: { ...guest.env, ...job.agent.env } };
  const question = { argv: job.agent.versionArgv ?? [], ...surroundings };
  const agentVersion = await askVersion(question, guest.stop);
  const start = { argv: job.agent.argv, ...surroundings };
  return { agent: await runAgent(start, guest.stop, guest.say), agentVersion };
}

async function exportAndCheck(context: ExportContext): Promise<GuestExit> {
  const { job, say } = context;
  try {
    const manifest = await exportWork(context);
    // A salvage gets out what there is; whether it is enough is for the host to say.
    if (job.mode === "export") return GUEST_EXIT.done;
    const problems = await artifactProblems(job.paths.artifacts, manifest);
    for (const problem of problems) say(problem);
    return problems.length === 0 ? GUEST_EXIT.done : GUEST_EXIT.incomplete;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`the work could not be exported: ${reason}.`);
    return GUEST_EXIT.exportFailed;
  }
}
