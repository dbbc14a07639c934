import type { EgressEntry } from "../../core/egress.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Redactor } from "../logs/redactor.ts";
import type { RunServices } from "../services.ts";
import { egressFile } from "./egress-file.ts";

/** Writes down and tells of each request through a gateway of a run. */
export interface EgressLog extends AsyncDisposable {
  readonly add: (entry: EgressEntry) => void;
}

/**
 * Adds to the run's `egress.jsonl`, one request a line, bounded like the other logs. Credentials in use are taken out of
 * what the container asked for. Nothing here makes a request wait or fails it.
 */
export function egressLog(services: RunServices, runId: string, redactor: Redactor): EgressLog {
  let isTold = false;
  const file = egressFile({
    path: services.paths.egress,
    limitBytes: LIMITS.egressLogBytes,
    now: services.now,
    onTrouble(reason): void {
      if (isTold) return;
      isTold = true;
      const text = `The record of the requests cannot be written (${reason}); the run goes on. Look at the disk of ${services.env.stateDir}.`;
      services.report({ type: "notice", runId, text });
    },
  });
  return {
    add(entry): void {
      const clean = redactor.data(entry);
      file.add(clean);
      services.report({ type: "egress", runId, entry: clean });
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await file.settle();
      await file[Symbol.asyncDispose]();
    },
  };
}
