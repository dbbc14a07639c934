import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { RunEvent } from "../../src/core/events.ts";
import { RUN_STATES } from "../../src/core/run-state.ts";
import { openHistory } from "../../src/history/sqlite.ts";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";

const RUNS = ["one", "two", "three"];
const REPOSITORIES = ["here", "there"];

/** Every type of event that could move a run, and some that must not; what else they hold moves nothing. */
const TYPES = [
  "run-ready",
  "run-failed",
  "run-interrupted",
  "run-promoted",
  "run-rolled-back",
  "run-discarded",
  "run-restored",
  "promotion-intent",
  "rollback-intent",
  "run-adopted",
  "stage-intent",
  "stage-failed",
  "salvaged",
  "snapshot-removed",
  "branch-returned",
] as const;

// Only the type and the repository are looked at, by the fold as by the triggers.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const event = (type: string, more: object = {}): RunEvent => ({ type, ...more }) as RunEvent;

test(
  "where a run stands by the index is where its events leave it, whatever came after what",
  NO_SECOND_TRY,
  () => {
    const steps = fc.array(fc.tuple(fc.nat(RUNS.length - 1), fc.constantFrom(...TYPES)), {
      minLength: 50,
      maxLength: 200,
    });
    fc.assert(
      fc.property(steps, (sequence) => {
        const directory = mkdtempSync(join(tmpdir(), "guardloop-test-"));
        try {
          const opened = openHistory(directory, () => new Date());
          if (!opened.ok) throw new Error(opened.error.message);
          using history = opened.value;
          for (const [index, run] of RUNS.entries())
            history.append(run, event("run-created", { repositoryId: REPOSITORIES[index % 2] }));
          for (const [index, type] of sequence) history.append(RUNS[index] ?? "", event(type));
          const folded = RUNS.map((id) => history.run(id));
          const ids = (runs: readonly ({ readonly id: string } | undefined)[]) =>
            runs.map((run) => run?.id);
          for (const state of RUN_STATES) {
            const expected = folded.filter((run) => run?.state === state).toReversed();
            expect(ids(history.runsInState([state]))).toEqual(ids(expected));
          }
          for (const repository of REPOSITORIES) {
            const its = folded.filter((run) => run?.repositoryId === repository).toReversed();
            const open = its.filter((run) => run?.intent !== null);
            expect(ids(history.undecided(repository))).toEqual(ids(open));
            expect(history.newest(repository)?.id).toBe(its[0]?.id);
          }
        } finally {
          rmSync(directory, { recursive: true, force: true });
        }
      }),
      propertyRuns(10),
    );
  },
);
