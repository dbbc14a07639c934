/** A polite request to end the agent. It never ends the guest: what the agent left is exported first. */
export interface StopRequest {
  readonly requested: () => boolean;
  /** Calls back once, at once when the request is there already. */
  readonly onRequest: (callback: () => void) => void;
}

/** Takes SIGTERM, SIGINT and SIGHUP from now on. The container's first process passes them on to the guest. */
export function listenForStop(): StopRequest {
  let isRequested = false;
  const callbacks: (() => void)[] = [];
  const onSignal = (): void => {
    isRequested = true;
    for (const callback of callbacks.splice(0)) callback();
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);
  return {
    requested: () => isRequested,
    onRequest(callback) {
      if (isRequested) callback();
      else callbacks.push(callback);
    },
  };
}
