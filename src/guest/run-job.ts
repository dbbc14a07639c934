import { GUEST_EXPORTS, type GuestJob, SAID_BY_GUEST } from "../core/artifacts.ts";
import { type Result, ok } from "../core/result.ts";
import { NOT_RUN } from "./agent.ts";
import { type SessionEnd, runSession } from "./agent-session.ts";
import { askVersion } from "./agent-version.ts";
import { endOthers, firstProcessCommandLine, ownsProcessNamespace } from "./end-others.ts";
import { GUEST_EXIT, type GuestExit } from "./exit-status.ts";
import { type ExportContext, exportWork } from "./export.ts";
import { prepareHome } from "./home.ts";
import { readLimitsHit } from "./limits-hit.ts";
import { type Surroundings, preflight } from "./preflight.ts";
import type { Relays } from "./relays.ts";
import { artifactProblems } from "./required-artifacts.ts";
import type { Say } from "./say.ts";
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
  if (job.mode === "setup") {
    const { runSetup } = await import("./setup.ts");
    return runSetup(job, guest);
  }
  const ready = await agentPart(job, guest);
  if (!ready.ok) {
    guest.say(ready.error);
    return GUEST_EXIT.refused;
  }
  if (job.mode === "run") guest.say(GUEST_EXPORTS.slice(SAID_BY_GUEST.length));
  const firstProcess = firstProcessCommandLine();
  if (ownsProcessNamespace(job.isolation, firstProcess, guest.bundle))
    await endOthers(job.paths, guest.say);
  const limitsHit = job.isolation === "container" ? readLimitsHit() : undefined;
  return exportAndCheck({ job, ...ready.value, limitsHit, say: guest.say });
}

/** What the export says of the agent, and needs of the surroundings. */
type AgentPart = Pick<ExportContext, "surroundings" | "agent" | "agentVersion" | "resumed">;

/** Everything up to the agent's end; fails with one sentence where it was not started. */
async function agentPart(job: GuestJob, guest: GuestProcess): Promise<Result<AgentPart, string>> {
  const found = preflight(job, guest.env);
  if (!found.ok) return found;
  const surroundings: Surroundings = found.value;
  if (job.mode === "export")
    return ok({ surroundings, agent: NOT_RUN, agentVersion: undefined, resumed: undefined });
  const home = prepareHome(guest.env.HOME ?? "", job);
  if (!home.ok) return home;
  const relays = await relaysOf(job, guest);
  if (!relays.ok) return relays;
  try {
    const { agent, agentVersion, resumed } = await startAgent(job, guest);
    const wasResumed = resumed.reminders + resumed.afterLimits > 0;
    const told = wasResumed ? resumed : undefined;
    return ok({ surroundings, agent, agentVersion, resumed: told });
  } finally {
    relays.value?.stop();
  }
}

/** Most runs have none, and are spared what they load. */
async function relaysOf(
  job: GuestJob,
  guest: GuestProcess,
): Promise<Result<Relays | undefined, string>> {
  if (job.relays === undefined || job.relays.length === 0) return ok(undefined);
  const { startRelays } = await import("./relays.ts");
  return startRelays(job.relays, guest);
}

async function startAgent(
  job: GuestJob,
  guest: GuestProcess,
): Promise<SessionEnd & { readonly agentVersion: string | undefined }> {
  const surroundings = { cwd: job.paths.workspace, env: { ...guest.env, ...job.agent.env } };
  const question = { argv: job.agent.versionArgv ?? [], ...surroundings };
  const agentVersion = await askVersion(question, guest.stop);
  const session = await runSession(job, { ...surroundings, stop: guest.stop, say: guest.say });
  return { ...session, agentVersion };
}

async function exportAndCheck(context: ExportContext): Promise<GuestExit> {
  const { job, say } = context;
  try {
    const manifest = await exportWork(context);
    // A salvage gets out what there is; whether it is enough is for the host to say.
    if (job.mode === "export") return GUEST_EXIT.done;
    const problems = artifactProblems(job.paths.artifacts, manifest);
    for (const problem of problems) say(problem);
    return problems.length === 0 ? GUEST_EXIT.done : GUEST_EXIT.incomplete;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`the work could not be exported: ${reason}.`);
    return GUEST_EXIT.exportFailed;
  }
}
