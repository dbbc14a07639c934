import { type GuestJob, SAID_BY_GUEST, SETUP_BEGINS } from "../core/artifacts.ts";
import { type AgentReport, runAgent } from "./agent.ts";
import { GUEST_EXIT } from "./exit-status.ts";
import { startRelays } from "./relays.ts";
import type { Say } from "./say.ts";
import type { StopRequest } from "./stop-request.ts";

interface SetupProcess {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file this process was started with. */
  readonly bundle: string;
  readonly say: Say;
  readonly stop: StopRequest;
}

/** What a shell reports for a program that a signal ended is this and the signal's number. */
const ENDED_BY_SIGNAL = 128;

/**
 * Runs the commands of a setup phase, one after another, with the relays beside them.
 *
 * @returns the status of the first command that failed, 0 when none did, or the guest's own when nothing could be started.
 */
export async function runSetup(job: GuestJob, guest: SetupProcess): Promise<number> {
  const relays = await startRelays(job.relays, guest);
  if (!relays.ok) {
    guest.say(relays.error);
    return GUEST_EXIT.refused;
  }
  try {
    return await runCommands(job, guest);
  } finally {
    relays.value.stop();
  }
}

async function runCommands(job: GuestJob, guest: SetupProcess): Promise<number> {
  const commands = job.commands ?? [];
  const env = { ...guest.env, ...job.agent.env };
  for (const [index, line] of commands.entries()) {
    const which = `${index + 1} of ${commands.length}`;
    guest.say(`${SETUP_BEGINS.slice(SAID_BY_GUEST.length)}${which}: ${line}`);
    const start = { argv: ["sh", "-c", line], cwd: job.paths.workspace, env };
    const status = statusOf(await runAgent(start, guest.stop, guest.say));
    if (status !== 0) return status;
  }
  return GUEST_EXIT.done;
}

function statusOf({ outcome, exitCode }: AgentReport): number {
  return outcome === "exited" ? (exitCode ?? ENDED_BY_SIGNAL) : ENDED_BY_SIGNAL;
}
