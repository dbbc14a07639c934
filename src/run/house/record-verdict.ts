import type { RunSummary } from "../../core/run-record.ts";
import { isPast } from "./services.ts";

/** What decides whether the files of a run's record may go. */
export interface RecordFacts {
  readonly run: RunSummary;
  /** Whether the branch it was promoted to contains what landed. */
  readonly landed: "yes" | "no";
  /** A ref that leads to the run's commits; the record explains it. */
  readonly ref: string | undefined;
  /** A run that goes on or waits for a decision and builds on this one. */
  readonly openChild: string | undefined;
  /** Whether the record holds patches, which may be the only copy of the work. */
  readonly patches: "some" | "none";
}

export type RecordVerdict =
  | {
      readonly kind: "may-go";
      readonly because: "landed" | "discarded" | "empty";
      readonly why: string;
    }
  /** Old enough to be asked about, and worth something. */
  | { readonly kind: "kept"; readonly why: string }
  /** Too young, or still running. */
  | { readonly kind: "not-yet" };

interface When {
  readonly now: Date;
  readonly recordDays: number;
}

/** Counted from the decision, or from the end of a run that needs none. A time that cannot be read is never old. */
export function ageOf(run: RunSummary, at: When): "young" | "old" {
  const sinceMs = Date.parse(run.decidedAt ?? run.endedAt ?? "");
  return run.state !== "running" && isPast(sinceMs, at.recordDays, at.now) ? "old" : "young";
}

/**
 * Whether a record may go: only that of a run which provably landed, was discarded, or left nothing, long enough ago,
 * and to whose commits no ref of ours leads any more. A run that waits for a decision, was rolled back, or holds work
 * that never landed keeps its record however old it is.
 */
export function judgeRecord(facts: RecordFacts, at: When): RecordVerdict {
  const { run } = facts;
  if (ageOf(run, at) === "young") return { kind: "not-yet" };
  const worth = worthOf(facts);
  if (worth !== undefined) return { kind: "kept", why: worth };
  if (run.state === "promoted")
    return { kind: "may-go", because: "landed", why: `its work landed in ${run.onto}` };
  if (run.state === "discarded")
    return { kind: "may-go", because: "discarded", why: "it was discarded" };
  return { kind: "may-go", because: "empty", why: `it ${run.state} and left no work` };
}

/** Why a record is still worth something; undefined when it is not. */
function worthOf(facts: RecordFacts): string | undefined {
  const { run, openChild } = facts;
  if (run.state === "ready") return "its run waits for a decision";
  if (run.state === "rolled-back") return "its run was rolled back, so its work has not landed";
  if (run.intent !== null) return "a decision about its run was begun and is not settled";
  if (openChild !== undefined) return `run ${openChild} builds on it`;
  return run.state === "promoted" || run.state === "discarded"
    ? worthOfDecided(facts)
    : worthOfFailed(facts);
}

function worthOfDecided({ run, landed, ref }: RecordFacts): string | undefined {
  if (run.state === "promoted" && landed === "no")
    return `what its run landed is not in ${run.onto} any more`;
  return ref === undefined ? undefined : `${ref} still leads to its work`;
}

function worthOfFailed({ run, patches }: RecordFacts): string | undefined {
  if (run.keptSnapshot !== null) return "its snapshot is kept";
  return patches === "none" && run.salvagedPatches === 0
    ? undefined
    : `it holds work that never landed: guardloop salvage ${run.id}`;
}
