import { setTimeout as delay } from "node:timers/promises";
import {
  GUEST_GOES_ON,
  GUEST_WAITS,
  type GuestJob,
  type Manifest,
  SAID_BY_GUEST,
} from "../core/artifacts.ts";
import { type AgentReport, type AgentStart, runAgent } from "./agent.ts";
import { textProblems } from "./required-artifacts.ts";
import type { Say } from "./say.ts";
import type { StopRequest } from "./stop-request.ts";

/** How often a waiting guest says so: the host's idle clock and a person see that the run goes on. */
const SAY_EVERY_MS = 60_000;

export interface SessionEnd {
  /** How the agent ended the last time. */
  readonly agent: AgentReport;
  readonly resumed: NonNullable<Manifest["resumed"]>;
}

export interface SessionPlace {
  readonly cwd: AgentStart["cwd"];
  readonly env: AgentStart["env"];
  readonly stop: StopRequest;
  readonly say: Say;
}

/**
 * Runs the agent to its end, and wakes its session again where it ended by itself without the files that it must leave:
 * after a rate limit of the model API, once that is over; else with a reminder. An agent that was stopped, ended by a
 * signal or could not be started is left alone.
 */
export async function runSession(job: GuestJob, place: SessionPlace): Promise<SessionEnd> {
  const resumed = { reminders: 0, afterLimits: 0 };
  let argv: readonly string[] | undefined = job.agent.argv;
  let agent: AgentReport;
  do {
    agent = await runAgent({ argv, cwd: place.cwd, env: place.env }, place.stop, place.say);
    argv = await nextTurn(agent, { job, place, resumed });
  } while (argv !== undefined);
  return { agent, resumed };
}

interface Turn {
  readonly job: GuestJob;
  readonly place: SessionPlace;
  readonly resumed: { reminders: number; afterLimits: number };
}

/** The argv to go on with, counted in `resumed`; undefined when the agent is done. */
async function nextTurn(
  agent: AgentReport,
  { job, place, resumed }: Turn,
): Promise<readonly string[] | undefined> {
  const { stop, say } = place;
  if (agent.outcome !== "exited" || stop.requested()) return undefined;
  const missing = textProblems(job.paths.artifacts);
  if (missing.length === 0) return undefined;
  const { reminder, afterLimit } = job.agent;
  if (afterLimit !== undefined && resumed.afterLimits < afterLimit.most) {
    const waited = await waitForLimit(afterLimit.socket, place);
    if (stop.requested()) return undefined;
    if (waited === "over") {
      resumed.afterLimits += 1;
      say(`${GUEST_GOES_ON.slice(SAID_BY_GUEST.length)} after the model API's limit.`);
      return afterLimit.argv;
    }
  }
  if (reminder === undefined || resumed.reminders >= reminder.most) return undefined;
  resumed.reminders += 1;
  say(`${GUEST_GOES_ON.slice(SAID_BY_GUEST.length)} with a reminder: ${missing.join(" ")}`);
  return reminder.argv;
}

/** Asks the gateway, and waits for as long as it says. A request to stop ends the wait. */
async function waitForLimit(socket: string, { stop, say }: SessionPlace): Promise<"none" | "over"> {
  // Loads Node's HTTP, which hardly any run needs.
  const { remainingLimit } = await import("./model-limit.ts");
  let leftMs = await remainingLimit(socket);
  if (leftMs === undefined) return "none";
  const stopping = new AbortController();
  stop.onRequest(() => stopping.abort());
  while (leftMs !== undefined && leftMs > 0 && !stop.requested()) {
    say(`${GUEST_WAITS.slice(SAID_BY_GUEST.length)}: ${inWords(leftMs)} left.`);
    const pauseMs = Math.min(leftMs, SAY_EVERY_MS);
    await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    // Another run's answers may have told of a longer one.
    leftMs = await remainingLimit(socket);
  }
  return "over";
}

function inWords(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
