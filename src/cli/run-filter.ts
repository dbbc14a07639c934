import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { RunSummary } from "../core/run-record.ts";
import { RUN_STATES } from "../core/run-state.ts";
import { type Call, listOption, textOption } from "./define.ts";
import { parseMoment } from "./moment.ts";

/** Which runs a person wants to see, and at most how many. */
export interface RunFilter {
  readonly matches: (run: RunSummary) => boolean;
  readonly limit: number;
}

/** Reads the filters of `guardloop runs`; the first one that makes no sense is said. */
export function runFilter(call: Call): Result<RunFilter, Failure> {
  const states = listOption(call, "state");
  const unknown = states.find((state) => !RUN_STATES.some((known) => known === state));
  if (unknown !== undefined)
    return wrong(`There is no state "${unknown}".`, `Known are ${RUN_STATES.join(", ")}.`);
  const since = momentOption(call, "since", "start");
  if (!since.ok) return since;
  const until = momentOption(call, "until", "end");
  if (!until.ok) return until;
  const limit = Number(textOption(call, "limit") ?? Infinity);
  if (!(limit === Infinity || (Number.isSafeInteger(limit) && limit > 0)))
    return wrong(
      "--limit takes a whole number above 0.",
      "For example: guardloop runs --limit 10.",
    );
  const task = textOption(call, "task");
  const branch = textOption(call, "branch");
  const [from, to] = [since.value?.getTime() ?? -Infinity, until.value?.getTime() ?? Infinity];
  return ok({
    limit,
    matches(run) {
      const at = Date.parse(run.startedAt);
      return (
        (states.length === 0 || states.includes(run.state)) &&
        (task === undefined || run.task === task) &&
        (branch === undefined || run.branch === branch || run.onto === branch) &&
        at >= from &&
        at <= to
      );
    },
  });
}

function momentOption(
  call: Call,
  name: "since" | "until",
  edge: "start" | "end",
): Result<Date | undefined, Failure> {
  const text = textOption(call, name);
  if (text === undefined) return ok(undefined);
  const moment = parseMoment(text, call.context.now(), edge);
  if (moment !== undefined) return ok(moment);
  return wrong(
    `--${name} ${text} is not a time.`,
    "Write a date (2026-11-29), a date with time (2026-11-29T18:00), or how long ago (30min, 2h, 3d, 1w).",
  );
}

function wrong(message: string, cure: string): Result<never, Failure> {
  return fail("usage", message, { cure });
}
