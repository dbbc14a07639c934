/**
 * From the order to kill a container to the end of a client that still waits for it: an engine that hangs, or that has
 * forgotten the container in a restart, would keep the run for ever.
 */
const GRACE_MS = 60_000;

/** Clients of an engine that wait for a container's end, by the container's name. */
export interface WaitingClients {
  /** Waits with a signal that is aborted when the client is given up. */
  readonly during: <T>(name: string, wait: (giveUp: AbortSignal) => Promise<T>) => Promise<T>;
  /** The container is ordered to be killed: who still waits for it after a minute is given up. */
  readonly killed: (name: string) => void;
}

export function waitingClients(): WaitingClients {
  const waiting = new Map<string, AbortController>();
  return {
    async during(name, wait) {
      const giveUp = new AbortController();
      waiting.set(name, giveUp);
      try {
        return await wait(giveUp.signal);
      } finally {
        waiting.delete(name);
      }
    },
    killed(name): void {
      const hanging = waiting.get(name);
      if (hanging !== undefined) setTimeout(() => hanging.abort(), GRACE_MS).unref();
    },
  };
}
