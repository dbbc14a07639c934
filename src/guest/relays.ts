import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";
import type { GuestJob } from "../core/artifacts.ts";
import { errnoOf } from "../core/errno.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type RelayPlace, relayArguments } from "./relay-arguments.ts";
import type { Say } from "./say.ts";

const READY_MS = 30_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;
/** Restarts that are told; an agent that ends its relay for ever would fill the log. */
const TOLD = 5;

/** Processes that pass on to the gateway's sockets, kept running until they are stopped. */
export interface Relays {
  /** Ends them for good. May be called twice. */
  readonly stop: () => void;
}

export interface RelayStart {
  /** The file this process was started with; the relays are further processes of it. */
  readonly bundle: string;
  readonly say: Say;
}

/**
 * Starts a relay for each entry and keeps them running. The agent has the same user as they, so it can end them; it then
 * only cuts its own connections, until the next one is there.
 *
 * @returns when all of them take connections; else one sentence, and none is left running.
 */
export async function startRelays(
  places: GuestJob["relays"],
  start: RelayStart,
): Promise<Result<Relays, string>> {
  const running: Relays[] = [];
  const stop = (): void => {
    for (const relay of running) relay.stop();
  };
  for (const place of places ?? []) {
    const relay = await startOne(place, start);
    if (!relay.ok) {
      stop();
      return relay;
    }
    running.push(relay.value);
  }
  return ok({ stop });
}

async function startOne(place: RelayPlace, start: RelayStart): Promise<Result<Relays, string>> {
  // A socket that is not mounted, or that the container's runtime keeps apart, is told before the agent starts.
  const problem = await whyNotReached(place.socket);
  if (problem !== undefined)
    return err(
      `the gateway's socket ${place.socket} cannot be reached (${problem}); a container in gVisor needs its runtime with --host-uds=open, see docs/engines.md.`,
    );
  const first = spawnRelay(place, start.bundle);
  if (await untilListening(first)) return ok(keepRunning(first, place, start));
  first.kill("SIGKILL");
  return err(
    `the relay on 127.0.0.1:${place.port} takes no connections: the port may be in use in this image.`,
  );
}

function whyNotReached(socket: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const attempt = connect(socket);
    attempt.once("error", (error) => resolve(errnoOf(error)));
    attempt.once("connect", () => {
      attempt.destroy();
      resolve(undefined);
    });
  });
}

function spawnRelay(place: RelayPlace, bundle: string): ChildProcess {
  return spawn(process.execPath, [bundle, ...relayArguments(place)], {
    cwd: "/",
    env: {},
    // Its standard input ends with this process, and it with that; on its standard output it says that it listens.
    stdio: ["pipe", "pipe", "ignore"],
    // Not in our process group: a signal to that is not meant for it.
    detached: true,
  });
}

function untilListening(relay: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(false), READY_MS);
    const settle = (answer: boolean): void => {
      clearTimeout(late);
      resolve(answer);
    };
    relay.stdout?.once("data", () => settle(true));
    relay.once("error", () => settle(false));
    relay.once("exit", () => settle(false));
  });
}

function keepRunning(first: ChildProcess, place: RelayPlace, { bundle, say }: RelayStart): Relays {
  let relay = first;
  let ended = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let pause: NodeJS.Timeout | undefined;
  let isStopped = false;
  const restart = async (): Promise<void> => {
    pause = undefined;
    relay = spawnRelay(place, bundle);
    const listening = untilListening(relay);
    watch();
    pauseMs = (await listening) ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  };
  const again = (): void => {
    if (isStopped || pause !== undefined) return;
    ended += 1;
    if (ended <= TOLD) say(`the relay on 127.0.0.1:${place.port} has ended and is started again.`);
    if (ended === TOLD) say("further restarts of it are not told.");
    pause = setTimeout(() => void restart(), pauseMs);
  };
  const watch = (): void => {
    // A child that could not be started has no exit.
    relay.once("error", again);
    relay.once("exit", again);
    if (relay.exitCode !== null || relay.signalCode !== null) again();
  };
  watch();
  return {
    stop(): void {
      isStopped = true;
      clearTimeout(pause);
      relay.kill("SIGKILL");
    },
  };
}
