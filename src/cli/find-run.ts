import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { RunRecord } from "../core/run-record.ts";
import type { History } from "../history/port.ts";

const SHOWN = 5;

/**
 * Finds the run a person means: an id, the beginning of one, a part that only one id has, or `@last` for the newest.
 *
 * @param repositoryId `@last` looks in this repository, or everywhere when it is undefined.
 */
export function findRun(
  history: History,
  text: string,
  repositoryId: string | undefined,
): Result<RunRecord, Failure> {
  if (text === "@last") {
    const newest = history.newest(repositoryId);
    return newest === undefined ? fail("unknown-run", "There is no run yet.") : ok(newest);
  }
  const ids = history.idsWithPrefix(text);
  const [id] = ids;
  if (text === "" || id === undefined)
    return fail("unknown-run", `No run's id begins with "${text}".`);
  if (ids.length > 1 && id !== text)
    return fail("unknown-run", `${ids.length} runs begin with "${text}": type more of the id.`, {
      details: ids.slice(0, SHOWN),
    });
  const run = history.run(id);
  return run === undefined
    ? fail("unknown-run", `The record of run ${id} cannot be read.`)
    : ok(run);
}
