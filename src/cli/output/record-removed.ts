import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RecordRemoved, RunRecord } from "../../core/run-record.ts";
import { size } from "./duration.ts";

const BECAUSE = {
  landed: "had landed",
  discarded: "was discarded",
  empty: "left no work",
} as const;

export function removedSentence({ at, by, because, sizeBytes }: RecordRemoved): string {
  return `Its files (${size(sizeBytes)}) were removed on ${at.slice(0, 10)} by ${by}, since the run ${BECAUSE[because]} long ago; what is shown here is what the history still knows.`;
}

/** For commands that need the files of a record. */
export function refuseRemovedRecord({ id, recordRemoved }: RunRecord): Result<void, Failure> {
  if (recordRemoved === null) return ok(undefined);
  const { at, by, because } = recordRemoved;
  return fail(
    "record-removed",
    `The record of run ${id} was removed on ${at.slice(0, 10)} by ${by}, since the run ${BECAUSE[because]} long ago.`,
    { cure: `See what is still known with \`guardloop show ${id}\`.` },
  );
}
