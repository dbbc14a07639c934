import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import { whileLocked } from "../locked.ts";
import type { RunServices } from "../services.ts";

export type BusyServices = Pick<RunServices, "env"> & {
  readonly paths: Pick<RunServices["paths"], "busy">;
};

/** Works on a run that has ended, one command at a time; recovery leaves the run alone meanwhile. */
export function whileBusy<T>(
  services: BusyServices,
  runId: string,
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const lock = { path: services.paths.busy, doing: `working on run ${runId}` };
  return whileLocked(services.env, lock, act);
}
